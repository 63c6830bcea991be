// Calls tools through the official TypeScript client, one by one, and agrees to every URL.
//
//   node ts_visits.mjs URL ERA
//
//   ERA   "legacy" (the client's default), or "2026-07-28"
//
// Reads lines of JSON: {tool, arguments}. Prints lines of JSON: {question} for each question, {completed} when the
// server reports that a visit is done, and {result} or {error} when a call has ended.
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, era] = process.argv.slice(2);
const say = (line) => console.log(JSON.stringify(line));

const client = new Client(
  { name: 'midcall-peer', version: '1.0.0' },
  {
    capabilities: { elicitation: { form: {}, url: {} } },
    ...(era === 'legacy' ? {} : { versionNegotiation: { mode: { pin: era } } }),
  },
);

client.setRequestHandler('elicitation/create', ({ params }) => {
  say({ question: params });
  return { action: 'accept' };
});
client.setNotificationHandler('notifications/elicitation/complete', ({ params }) => say({ completed: params.elicitationId }));

await client.connect(new StreamableHTTPClientTransport(new URL(url)));
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, arguments: given } = JSON.parse(line);
  await client.callTool({ name: tool, arguments: given ?? {} }).then(
    (result) => say({ result }),
    (error) => say({ error: { code: error.code, message: error.message } }),
  );
}
await client.close();
