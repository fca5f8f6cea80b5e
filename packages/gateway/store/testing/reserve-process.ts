// A gateway's part in the race for a budget, as a process of its own: opens the store, says `ready`, and on the line
// `go` reserves as often as it was told, all at once. It says what came of it, and stays until it is killed.
import { createInterface } from 'node:readline';
import { openGatewayStore } from '../open/index.ts';
import { sampleLimit, sampleReservation } from './sample-rows.ts';

const [database = '', count = '', capMicros = ''] = process.argv.slice(2);
const store = await openGatewayStore({ database });
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== 'go') continue;
  const limits = [sampleLimit({ capMicros: Number(capMicros) })];
  const answers = await Promise.all(
    Array.from({ length: Number(count) }, () =>
      store.budgets.reserve(sampleReservation({ limits })),
    ),
  );
  const reserved = answers.filter(({ kind }) => kind === 'reserved').length;
  process.stdout.write(`${reserved}\n`);
}
