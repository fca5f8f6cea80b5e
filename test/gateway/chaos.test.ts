// Gateways, upstreams and the database are killed while clients send turns. What is on record afterwards is what the
// upstreams counted and what the clients got. `CHAOS_TURNS=5000 CHAOS_SEEDS=1,2,3` makes it long.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { loadSqlite } from '@subluminal/plane/sqlite';
import { Client } from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeConfig } from '../../packages/gateway/config/testing/config-folder.ts';
import { ensureBuilt } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { ChaosRun, type StoredRow } from './chaos-run.ts';
import { chaosConfig } from './gateway-folders.ts';
import { eventually, startPostgresProcess, testFolder } from './running-processes.ts';

const TURNS = Number(process.env['CHAOS_TURNS'] ?? 100);
const SEEDS = (process.env['CHAOS_SEEDS'] ?? '1').split(',').map(Number);
const TIMEOUT_MS = 120_000 + TURNS * 500;

beforeAll(() => ensureBuilt());

describe.each(SEEDS)('chaos with the seed %i', { timeout: TIMEOUT_MS }, (seed) => {
  it('on SQLite: one gateway is killed, and upstreams come and go', async () => {
    verifies('R-16');
    const home = testFolder();
    const database = join(home, 'gateway.db');
    const run = await ChaosRun.open({ seed, turns: TURNS, homes: [home], database });
    writeConfig(run.dir, chaosConfig(run.upstreams));
    await run.start();
    await run.finish(['gateway', 'upstream', 'gateway', 'upstream'], {});
    const { DatabaseSync } = await loadSqlite();
    const db = new DatabaseSync(database);
    const found = await findProblems(run, async (sql) => db.prepare(sql).all());
    db.close();
    expect(found, run.figures).toEqual([]);
  });

  it('on Postgres: two gateways, the database and its connections are killed, and upstreams come and go', async () => {
    verifies('R-16');
    const postgres = await startPostgresProcess();
    const query = async (sql: string): Promise<readonly StoredRow[]> => {
      const client = new Client({ connectionString: postgres.url });
      client.on('error', () => {});
      await client.connect();
      try {
        return (await client.query<StoredRow>(sql)).rows;
      } finally {
        await client.end();
      }
    };
    const homes = [testFolder(), testFolder()];
    const run = await ChaosRun.open({ seed, turns: TURNS, homes, database: postgres.url });
    writeConfig(run.dir, chaosConfig(run.upstreams));
    await run.start();
    await run.finish(['gateway', 'postgres', 'backend', 'upstream', 'gateway', 'postgres'], {
      postgres: async (awayMs) => {
        await postgres.crash();
        await wait(awayMs);
        await postgres.start();
      },
      // Postgres ends all other connections then, and recovers by itself.
      backend: async () => {
        const [row] = await query(
          "SELECT pid FROM pg_stat_activity WHERE application_name = 'subluminal-gateway' LIMIT 1",
        );
        if (row !== undefined) process.kill(Number(row['pid']), 'SIGKILL');
      },
    });
    const found = await findProblems(run, query);
    expect(found, run.figures).toEqual([]);
  });
});

const COSTS = `SELECT session_id, input_tokens, output_tokens, is_success, error_class FROM cost_event`;
const TURN_AUDIT = `SELECT session_id FROM audit_event WHERE event_type = 'turn'`;
const OPEN = `SELECT count(*) AS open FROM budget_reservation WHERE state = 'reserved'`;
const COUNTERS = `SELECT scope, sum(used_micros) AS used, sum(reserved_micros) AS reserved
  FROM budget_counter GROUP BY scope ORDER BY scope`;
const DAILY = 'SELECT sum(requests) AS requests, sum(cost_micros) AS cost FROM cost_daily';

/** When all reservations have been settled or have expired: what is on record, against what happened. */
async function findProblems(
  run: ChaosRun,
  query: (sql: string) => Promise<readonly StoredRow[]>,
): Promise<readonly string[]> {
  await eventually(
    async () => Number((await query(OPEN))[0]?.['open']),
    (open) => open === 0,
  );
  await run.stop();
  if (process.env['CHAOS_TURNS'] !== undefined) process.stderr.write(`${run.figures}\n`);
  const costs = await query(COSTS);
  const audited = (await query(TURN_AUDIT)).map((row) => String(row['session_id']));
  const problems = [...run.problems(costs, audited)];
  const [sums] = await query('SELECT sum(cost_micros) AS cost FROM cost_event');
  const cost = Number(sums?.['cost']);
  for (const { scope, used, reserved } of await query(COUNTERS)) {
    if (Number(used) !== cost || Number(reserved) !== 0)
      problems.push(
        `${String(scope)}: ${Number(used)} used and ${Number(reserved)} held of ${cost}`,
      );
  }
  const [daily] = await query(DAILY);
  if (Number(daily?.['requests']) !== costs.length || Number(daily?.['cost']) !== cost)
    problems.push(`the days say ${Number(daily?.['requests'])} and ${Number(daily?.['cost'])}`);
  // A run in which nothing happened shows nothing.
  if (!run.wasHit || !(cost > 0)) problems.push('no turn was hit, or none was answered');
  return problems;
}
