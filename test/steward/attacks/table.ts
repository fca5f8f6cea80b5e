// Prints what the attacks and the harmless tasks came to: `node tools/run.mjs test/steward/attacks/table.ts`.
import { runSuite } from './suite.ts';

const { text } = await runSuite();
process.stdout.write(text);
process.exit(0);
