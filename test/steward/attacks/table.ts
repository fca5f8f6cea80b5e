// Prints what the attacks and the harmless tasks came to: `node tools/run.mjs test/steward/attacks/table.ts`. The
// guardian allows everything; with `--guardian` it judges as a good model would.
import { allowsAll, doubts } from './run-scenes.ts';
import { runSuite } from './suite.ts';

const { text } = await runSuite(process.argv.includes('--guardian') ? doubts : allowsAll);
process.stdout.write(text);
process.exit(0);
