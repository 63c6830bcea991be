// Calls one tool through the official TypeScript client, and answers its questions from a script.
//
//   node ts_client.mjs URL ERA TOOL ARGUMENTS ANSWERS
//
//   ERA        "legacy" (the client's default), or a protocol version such as "2025-06-18" or "2026-07-28"
//   ARGUMENTS  JSON: the tool's arguments
//   ANSWERS    JSON: from a question's message, or its field names joined by ",", to the answer:
//              "decline", "cancel", the content to accept with, or the value of the only field
//
// Prints one line of JSON: {protocolVersion, questions, result} or {protocolVersion, questions, error}.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, era, tool, toolArguments, answers] = process.argv.slice(2);
const script = JSON.parse(answers);
const questions = [];

const client = new Client(
  { name: 'midcall-peer', version: '1.0.0' },
  { capabilities: { elicitation: { form: {}, url: {} } }, ...versions(era) },
);

client.setRequestHandler('elicitation/create', ({ params }) => {
  questions.push(params);
  const fields = Object.keys(params.requestedSchema?.properties ?? {}).join(',');
  const answer = script[params.message] ?? script[fields];
  if (answer === undefined) throw new Error(`The script has no answer for "${params.message}" (fields: ${fields})`);
  if (answer === 'decline' || answer === 'cancel') return { action: answer };
  return { action: 'accept', content: typeof answer === 'object' ? answer : { [fields]: answer } };
});

await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const outcome = await client.callTool({ name: tool, arguments: JSON.parse(toolArguments) }).then(
  (result) => ({ result }),
  (error) => ({ error: { code: error.code, message: error.message, data: error.data } }),
);
console.log(JSON.stringify({ protocolVersion: client.getNegotiatedProtocolVersion(), questions, ...outcome }));
await client.close();

// Up to 2025-11-25 the client offers the version in `initialize`; from 2026-07-28 on it pins and discovers it.
function versions(era) {
  if (era === 'legacy') return {};
  if (era < '2026') return { supportedProtocolVersions: [era] };
  return { versionNegotiation: { mode: { pin: era } } };
}
