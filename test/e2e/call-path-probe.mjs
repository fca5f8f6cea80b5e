// Loaded before the shim by `node --import`: on SIGUSR2 it writes down which functions have run how
// often since the last SIGUSR2, by V8's precise coverage.
import { renameSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';

const { CALL_PATH_OUT: out = '', CALL_PATH_SCRIPT: script = '' } = process.env;
const profiler = new Session();
let takes = 0;

profiler.connect();
profiler.post('Profiler.enable');
profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
process.on('SIGUSR2', () => {
  // Taking the counts also sets them back to zero.
  profiler.post('Profiler.takePreciseCoverage', (_error, taken) => {
    const found = taken?.result.find(({ url }) => url.endsWith(script));
    const ranges = found?.functions.map(({ ranges: [whole] }) => whole) ?? [];
    const counts = ranges.filter(({ count }) => count > 0);
    const draft = `${out}.draft`;
    writeFileSync(
      draft,
      counts.map(({ startOffset, count }) => `${startOffset} ${count}`).join('\n'),
    );
    renameSync(draft, `${out}.${++takes}`);
  });
});
