// A server that answers every call at once, each with what it was asked.
import { createInterface } from 'node:readline';

for await (const line of createInterface({ input: process.stdin })) {
  const { id, params } = JSON.parse(line);
  const text = JSON.stringify(params?.arguments ?? null);
  const answer = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
