// The processes of the demo: started in groups of their own, so that Ctrl-C comes to the demo alone
// and it ends them in order; all are gone when `end` resolves.
import { spawn } from 'node:child_process';

const OUTPUT_LENGTH_MAX = 64 * 1024;
const TERM_MS = 8_000;

function createCast() {
  const playing = new Set();
  let isOver = false;
  return {
    start: (command, options) => {
      if (isOver) throw new Error('the demo has ended');
      return start(playing, command, options);
    },
    /** Asks all to end, the last one first; whoever does not is killed. Nobody starts behind it. */
    end: async () => {
      isOver = true;
      for (const actor of [...playing].toReversed()) await actor.stop();
    },
  };
}

/** `onLine` gets each line of the output; without it the output is kept. */
function start(playing, [file, ...args], { cwd, env, onLine }) {
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const actor = { stdout: '', stderr: '', pid: child.pid };
  const keep = (name) => (text) => {
    actor[name] = (actor[name] + text).slice(-OUTPUT_LENGTH_MAX);
  };
  child.stdout.setEncoding('utf8').on('data', onLine ? byLine(onLine) : keep('stdout'));
  child.stderr.setEncoding('utf8').on('data', keep('stderr'));
  playing.add(actor);
  actor.done = new Promise((resolve) => {
    child.on('error', (cause) => resolve({ code: null, cause: cause.message }));
    child.on('close', (code, signal) => resolve({ code, signal }));
  }).finally(() => playing.delete(actor));
  actor.stop = async () => {
    child.kill('SIGTERM');
    const late = setTimeout(() => killGroup(child), TERM_MS);
    await actor.done;
    clearTimeout(late);
  };
  return actor;
}

function killGroup({ pid }) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

function byLine(onLine) {
  let rest = '';
  return (text) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(-OUTPUT_LENGTH_MAX);
    for (const line of lines) onLine(line);
  };
}

export { createCast };
