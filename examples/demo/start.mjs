// `sub demo`: the product's main job, on an example of its own. `--keep` keeps its files.
import { parseArgs } from 'node:util';
import { DemoFailed, play } from './play.mjs';
import { createCast } from './processes.mjs';
import { createScreen } from './screen.mjs';
import { StoryBroken } from './story.mjs';
import { setStage } from './workspace.mjs';

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

process.exitCode = await main(process.argv.slice(2));

async function main(args) {
  const wish = readArgs(args);
  if (wish === undefined) return 2;
  const stage = setStage();
  const cast = createCast();
  const screen = createScreen(process.stdout, process.env);
  const interrupted = onSignals(process);
  try {
    const played = play({ cast, stage, screen, keep: wish.keep }).then(() => 0);
    return await Promise.race([played, interrupted]);
  } catch (cause) {
    if (!(cause instanceof DemoFailed || cause instanceof StoryBroken)) throw cause;
    process.stderr.write(`demo: the demo did not end as it should: ${cause.message}\n`);
    return 1;
  } finally {
    await cast.end();
    if (!wish.keep) stage.clear();
  }
}

function readArgs(args) {
  try {
    return parseArgs({ args, options: { keep: { type: 'boolean', default: false } } }).values;
  } catch (cause) {
    process.stderr.write(`demo: ${cause.message}\nUsage: sub demo [--keep]\n`);
    return undefined;
  }
}

/** Resolves to the exit code of the first signal. A reader that has gone (`| head`) is no error. */
function onSignals({ stdout }) {
  return new Promise((resolve) => {
    for (const [signal, code] of Object.entries(SIGNALS)) process.on(signal, () => resolve(code));
    stdout.on('error', () => resolve(0));
  });
}
