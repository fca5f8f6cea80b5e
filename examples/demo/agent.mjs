// An agent with a script in place of a model: it looks into a log, makes the usual mistakes, and
// does what it is told when it is refused. Knows nothing of the policy; its MCP client is the
// official one, and its server is whatever command stands behind its own:
//   node agent.mjs COMMAND [ARGS…]
// With DEMO_REPORT it leaves what it saw in that file; with DEMO_PAUSE_MS it waits between calls.
import { writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const [command, ...args] = process.argv.slice(2);
const pauseMs = Number(process.env.DEMO_PAUSE_MS ?? 0);
const client = new Client({ name: 'demo-agent', version: '1.0.0' });
const seen = [];

/** One call. A refusal is no crash: it comes back with its reason, and often with advice. */
async function call(name, given) {
  await wait(pauseMs);
  try {
    const result = await client.callTool({ name, arguments: given });
    const text = result.content.map((part) => part.text ?? '').join('\n');
    seen.push({ tool: name, args: given, outcome: result.isError ? 'failed' : 'done' });
    return { ok: !result.isError, text };
  } catch (error) {
    const refusal = error.data?.subluminal;
    if (refusal === undefined) throw error;
    const { rule_id, action, summary, hint } = refusal;
    const told = { rule_id, action, summary, hint_text: hint?.hint_text ?? null };
    seen.push({ tool: name, args: given, outcome: 'refused', ...told });
    return { ok: false, suggested: hint?.suggested_args ?? undefined };
  }
}

/** What the agent did about the refusal before. */
function reacted(words) {
  const refused = seen.findLast(({ outcome }) => outcome === 'refused');
  if (refused !== undefined) refused.did = words;
}

async function work() {
  await call('list_directory', { path: '.' });

  let log = await call('read_text_file', { path: 'app.log', tail: 5000 });
  if (log.suggested !== undefined) {
    log = await call('read_text_file', log.suggested);
    if (log.ok) reacted(`asked again with tail: ${seen.at(-1).args.tail}`);
  }

  const secrets = await call('read_text_file', { path: '.env' });
  if (!secrets.ok) reacted('went on without it');

  const errors = (log.text ?? '').split('\n').filter((line) => line.includes(' ERROR '));
  const report = {
    path: 'report.md',
    content: `# ${errors.length} errors\n\n${errors.join('\n')}\n`,
  };
  await call('write_file', report);
  // As agents do when an answer was slow: the same once more.
  const again = await call('write_file', report);
  if (!again.ok) {
    const back = await call('read_text_file', { path: report.path });
    reacted(
      back.text === report.content ? 'read it back: all there' : 'read it back: not the same',
    );
  }

  await call('write_file', {
    path: 'summary.md',
    content: `${errors.length} errors, see report.md\n`,
  });
  const more = await call('write_file', { path: 'ideas.md', content: 'Rewrite everything.\n' });
  if (!more.ok) reacted('stopped: ideas.md is to do');
}

try {
  await client.connect(
    new StdioClientTransport({ command, args, env: process.env, stderr: 'inherit' }),
  );
  await work();
} finally {
  if (process.env.DEMO_REPORT) writeFileSync(process.env.DEMO_REPORT, JSON.stringify(seen));
  await client.close();
}
