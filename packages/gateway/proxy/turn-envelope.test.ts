// What the proxy tells a gateway about a turn, as the gateway gets it.
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ModelEnvelope, parseModelEnvelope } from '@subluminal/contracts';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { anthropicAnswer } from '../serve/testing/running-gateway.ts';
import { bodyOf, loopback } from '../turns/testing/loopback.ts';
import { MESSAGES, runningProxyFor } from './testing/running-proxy.ts';

/** A gateway that answers, and keeps the last envelope that it got. */
async function envelopes() {
  let last = '';
  const { url } = await loopback(async (request, response) => {
    const body = (await bodyOf(request)).toString('utf8');
    if (request.url !== '/v1/agent/forward') return response.writeHead(500).end();
    last = body;
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(anthropicAnswer('Hello.')));
  });
  const proxy = await runningProxyFor({ gatewayUrl: url, apiKey: 'sk-sub-any-key-of-ours' });
  const told = (): ModelEnvelope => {
    const { envelope } = JSON.parse(last) as { envelope: unknown };
    const parsed = parseModelEnvelope(envelope);
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.mismatches));
    return parsed.value;
  };
  return { proxy, told };
}

function repository(): string {
  const root = mkdtempSync(join(tmpdir(), 'sub-envelope-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  execFileSync('git', ['init', '-q', root]);
  const remote = 'https://ada:hunter2hunter2@github.com/acme/parser.git';
  execFileSync('git', ['-C', root, 'remote', 'add', 'origin', remote]);
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, 'src/parser.ts'), 'const insideTheFile = 1;\n');
  return root;
}

/** One edit of a coding agent, with a word of its own wherever content can stand. */
function edit(words: readonly string[]) {
  const [system, asked, thought, before, after, output, name] = words;
  return {
    model: 'any',
    max_tokens: 100,
    system: `You are careful. ${system}`,
    tools: [{ name: 'Edit', description: `Edits. ${name}`, input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: `Fix the parser in src/parser.ts: ${asked}` },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: `I see: ${thought}` },
          {
            type: 'tool_use',
            id: 'toolu_1',
            name: 'Edit',
            input: {
              file_path: 'src/parser.ts',
              old_string: `const a = "${before}";`,
              new_string: `const a = "${after}";\nconst b = 2;`,
            },
          },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: `Done. ${output}` }],
      },
    ],
  };
}

test('a turn is tagged by paths, languages, hashes and the size of its change', async () => {
  verifies('R-19');
  const root = repository();
  const { proxy, told } = await envelopes();
  const body = JSON.stringify(edit(Array.from({ length: 7 }, (_, at) => `Word${at}Word`)));
  const script = `await fetch('${proxy.url}${MESSAGES}', { method: 'POST', body: ${JSON.stringify(body)} });`;
  const args = ['--input-type=module', '-e', script];
  await promisify(execFile)(process.execPath, args, { cwd: root });
  const envelope = told();
  const sha256 = createHash('sha256').update('const insideTheFile = 1;\n').digest('hex');
  expect(envelope).toMatchObject({
    session: { turn_index: 0, is_continuation: true },
    repo: { remote_url: 'https://github.com/acme/parser.git' },
    context_signals: {
      file_paths: ['src/parser.ts'],
      file_fingerprints: [{ path: 'src/parser.ts', size_bytes: 25, sha256 }],
      primary_language: 'typescript',
      diff_summary: { lines_added: 2, lines_removed: 1 },
    },
  });
  expect(JSON.stringify(envelope)).not.toMatch(/Word|insideTheFile|hunter2/);
});

test('no word of a message, a call or a result is in the envelope', async () => {
  verifies('R-19');
  const { proxy, told } = await envelopes();
  const word = fc.stringMatching(/^[A-Z][a-z]{7,11}[A-Z]{4,8}$/);
  const words = fc.uniqueArray(word, { minLength: 7, maxLength: 7 });
  await fc.assert(
    fc.asyncProperty(words, async (given) => {
      const answer = await proxy.ask(MESSAGES, edit(given));
      expect(answer.status).toBe(200);
      const envelope = JSON.stringify(told());
      expect(given.filter((one) => envelope.includes(one))).toEqual([]);
    }),
    { numRuns: 30 },
  );
});
