// Calls one tool through the first line of the official TypeScript SDK, and answers its questions from a script.
//
//   node ts_client_v1.mjs URL TOOL ARGUMENTS ANSWERS
//
// ARGUMENTS and ANSWERS are as in ts_client.mjs; an answer is the value of the only field. Prints one line of JSON:
// {protocolVersion, questions, result} or {protocolVersion, questions, error}.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [url, tool, toolArguments, answers] = process.argv.slice(2);
const script = JSON.parse(answers);
const questions = [];

const client = new Client(
  { name: 'midcall-peer', version: '1.0.0' },
  { capabilities: { elicitation: { form: {}, url: {} } } },
);

client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  questions.push(params);
  const [field] = Object.keys(params.requestedSchema.properties);
  return { action: 'accept', content: { [field]: script[params.message] } };
});

const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
const outcome = await client.callTool({ name: tool, arguments: JSON.parse(toolArguments) }).then(
  (result) => ({ result }),
  (error) => ({ error: { code: error.code, message: error.message, data: error.data } }),
);
console.log(JSON.stringify({ protocolVersion: transport.protocolVersion, questions, ...outcome }));
await client.close();
