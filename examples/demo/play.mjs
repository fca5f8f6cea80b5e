// The demo itself: a ledger, a live view, and an agent under governance, each a real `sub`; then
// what came of it.
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { withoutColor } from './screen.mjs';
import { tellNext, tellStory } from './story.mjs';
import { stageEnv } from './workspace.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SUB = [process.execPath, join(ROOT, 'packages', 'cli', 'bin', 'sub.mjs')];
const POLICY = join(ROOT, 'examples', 'demo', 'policy.yaml');
const AGENT = join(ROOT, 'packages', 'cli', 'dist', 'demo', 'agent.mjs');
const SERVER = join(ROOT, 'packages', 'cli', 'dist', 'demo', 'server-filesystem.mjs');
/** Long enough to see the calls come one by one, on a terminal. */
const PAUSE_MS = 250;
const START_MS = 15_000;
const RUN_MS = 60_000;
const LAST_LINE_MS = 5_000;
const POLL_MS = 20;

/** What a person can act on; anything else that is thrown is a bug. */
class DemoFailed extends Error {}

async function play({ cast, stage, screen, keep }) {
  const env = { ...stageEnv(stage, screen.isTerminal ? PAUSE_MS : 0) };
  const sub = (args, more = {}) => cast.start([...SUB, ...args], { cwd: ROOT, env, ...more });
  screen.say(
    screen.paint(
      'bold',
      'An agent, a real MCP server, and examples/demo/policy.yaml between them:',
    ),
  );
  screen.say();
  const ledger = sub(['ledgerd', '--foreground']);
  await isListening(stage, ledger);
  const live = watch(sub, { env, screen });
  await act(cast, { env, stage });
  await Promise.race([live.ended, wait(LAST_LINE_MS, undefined, { ref: false })]);
  await live.actor.stop();
  await ledger.stop();
  const checked = sub(['ledger', 'verify']);
  await succeeded('sub ledger verify', checked);
  tellStory(screen, { seen: readReport(stage), stage, checked: checked.stdout });
  tellNext(screen, keep ? stage : undefined);
}

/** Serves the page of the demo's ledger, and says how to open it. */
async function showPage({ cast, stage, screen }) {
  // A copy: what is tried in the page changes nothing else.
  copyFileSync(POLICY, join(stage.home, 'policy.yaml'));
  const env = stageEnv(stage, 0);
  const ledger = cast.start([...SUB, 'ledgerd', '--foreground'], { cwd: stage.workspace, env });
  await isListening(stage, ledger);
  const url = await pageLink(stage, ledger);
  screen.say();
  screen.say(
    screen.paint('bold', 'The same in the page, by a link that works once, within two minutes:'),
  );
  screen.say(`  ${url}`);
  screen.say('Ctrl-C ends it.');
  return url;
}

/** The address and the token are there a moment after the socket. */
async function pageLink({ home }, ledger) {
  const file = join(home, 'run', 'ledger.json');
  const deadlineMs = performance.now() + START_MS;
  while (!existsSync(file)) {
    if (performance.now() > deadlineMs) throw new DemoFailed(`no page\n${ledger.stderr}`.trim());
    await wait(POLL_MS);
  }
  const { url, token } = JSON.parse(readFileSync(file, 'utf8'));
  const response = await fetch(`${url}/api/v1/login/link`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{}',
  });
  const answer = await response.json();
  if (!response.ok) throw new DemoFailed(`${answer.error?.message} ${answer.error?.fix}`);
  return url + answer.path;
}

/** `sub tail`, as a person would have it open beside the agent. */
function watch(sub, { env, screen }) {
  let end = () => {};
  const ended = new Promise((resolve) => {
    end = resolve;
  });
  const onLine = (line) => {
    const text = withoutColor(line);
    // The summary below says what the last line says; the first one is the heading.
    if (text.includes('□ run ')) end();
    else if (!text.includes('▶ run ')) screen.pass(line);
  };
  const color = screen.hasColor ? { FORCE_COLOR: '1', NO_COLOR: '' } : { NO_COLOR: '1' };
  const width = screen.isTerminal ? { COLUMNS: String(screen.columns()) } : {};
  const actor = sub(['tail', '--backlog', '100'], { env: { ...env, ...color, ...width }, onLine });
  return { actor, ended };
}

/** `sub run -- agent`, whose server is the shim in front of the real one. */
async function act(cast, { env, stage }) {
  const server = [process.execPath, SERVER, stage.workspace];
  const shim = [...SUB, 'shim', '--server-name', 'files', '--', ...server];
  const agent = [process.execPath, AGENT, ...shim];
  const run = ['run', '--agent-id', 'demo', '--policy', POLICY, '--', ...agent];
  const running = cast.start([...SUB, ...run], { cwd: stage.workspace, env });
  const late = setTimeout(() => void running.stop(), RUN_MS).unref();
  await succeeded('sub run', running);
  clearTimeout(late);
}

async function succeeded(what, actor) {
  const { code, signal, cause } = await actor.done;
  if (code === 0) return;
  const how = cause ?? (signal ? `was ended by ${signal}` : `ended with ${code}`);
  throw new DemoFailed(`\`${what}\` ${how}\n${actor.stderr || actor.stdout}`.trim());
}

async function isListening({ home }, ledger) {
  const deadlineMs = performance.now() + START_MS;
  const ended = ledger.done.then(() => 'ended');
  while (!(await answers(join(home, 'run', 'ledger.sock')))) {
    const outcome = await Promise.race([ended, wait(POLL_MS)]);
    if (outcome === 'ended' || performance.now() > deadlineMs) {
      throw new DemoFailed(`the ledger did not start\n${ledger.stderr}`.trim());
    }
  }
}

function answers(path) {
  return new Promise((resolve) => {
    const socket = createConnection(path);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

function readReport({ report }) {
  if (!existsSync(report)) throw new DemoFailed('the agent has left no report');
  return JSON.parse(readFileSync(report, 'utf8'));
}

export { DemoFailed, play, showPage };
