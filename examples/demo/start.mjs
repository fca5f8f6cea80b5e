// `sub demo`: the product's main job, on an example of its own. `--keep` keeps its files, `--ui` shows
// its ledger in the page until Ctrl-C.
import { parseArgs } from 'node:util';
import { DemoFailed, play, showPage } from './play.mjs';
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
    const code = await Promise.race([played, interrupted]);
    if (!wish.ui || code !== 0) return code;
    const url = await Promise.race([showPage({ cast, stage, screen }), interrupted]);
    // The command that has started this one opens the browser.
    if (typeof url === 'string') process.send?.({ open: url });
    await interrupted;
    return 0;
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
    const flag = { type: 'boolean', default: false };
    return parseArgs({ args, options: { keep: flag, ui: flag } }).values;
  } catch (cause) {
    process.stderr.write(`demo: ${cause.message}\nUsage: sub demo [--keep] [--ui]\n`);
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
