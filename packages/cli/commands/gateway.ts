// `sub gateway`: the model gateway of a team and its configuration.
import { resolve } from 'node:path';
import type { Problem } from '@subluminal/core/source';
import { shellWord } from '@subluminal/core/visible';
import { type GatewayConfig, loadGatewayConfig } from '@subluminal/gateway/config';
import { secretPlaces } from '../gateway/config-home.ts';
import { renderConfigProblems } from '../gateway/render-check.ts';
import { writeExample } from '../gateway/write-example.ts';
import { defineCommand, EXIT, orThrow, printout, textOption } from '../input/command.ts';
import { timeOption } from '../input/read-option.ts';
import type { Io } from '../terminal/io.ts';
import { tableText } from '../terminal/table.ts';
import { harmless, harmlessLine, plural } from '../terminal/text.ts';

export const check = defineCommand({
  description:
    'Reads the folder as a gateway does and prints every problem of every file with its position and a likely fix: fields that are not known, endpoints, pools, teams and users that are not there, conditions that do not compile, secrets in plain text. A secret that is not on this machine is only a warning.',
  args: { dir: 'The folder with pools.yaml, policies/main.yaml and the other files' },
  options: { strict: 'Fail on warnings too' },
  examples: ['sub gateway check gateway/', 'sub gateway check --strict --json gateway/'],
  exitCodes: {
    0: 'no errors (with --strict: no warnings either)',
    1: 'there are errors; with --strict: or warnings',
    2: 'wrong flags, or a folder that cannot be read',
  },
  run: async ({ args, options }, io) => {
    const { dir } = args;
    const loaded = orThrow(
      await loadGatewayConfig(dir, { places: await secretPlaces(), use: 'check' }),
    );
    const { problems } = loaded;
    const config = loaded.ok ? loaded.config : undefined;
    const summary = { errors: countOf(problems, 'error'), warnings: countOf(problems, 'warning') };
    const mark = problems.length === 0 ? `${io.out.colors.green('✔')} ` : '';
    const parts = [...(config === undefined ? [] : contentsOf(config)), summaryText(summary)];
    const text = `${renderConfigProblems(problems, dir, io)}${mark}${harmless(dir)}: ${parts.join(', ')}\n`;
    const document = { dir, ok: loaded.ok, version: config?.version ?? null, problems, summary };
    const isFailed = summary.errors > 0 || (options.strict && summary.warnings > 0);
    return printout(document, text, isFailed ? EXIT.findings : EXIT.fine);
  },
});

function countOf(problems: readonly Problem[], level: Problem['level']): number {
  return problems.filter((problem) => problem.level === level).length;
}

function summaryText({ errors, warnings }: { errors: number; warnings: number }): string {
  const parts = [
    ...(errors > 0 ? [plural(errors, 'error')] : []),
    ...(warnings > 0 ? [plural(warnings, 'warning')] : []),
  ];
  return parts.join(', ') || 'no problems';
}

function contentsOf({ endpoints, pools, policy, identity }: GatewayConfig): readonly string[] {
  return [
    plural(endpoints.size, 'endpoint'),
    plural(pools.size, 'pool'),
    plural(policy.rules.length, 'rule'),
    plural(identity.teams.size, 'team'),
  ];
}

export const init = defineCommand({
  description:
    'Writes a commented configuration that works: two vendors, a model of your own, pools, a policy, budgets, prices, teams. It replaces nothing: when one of its files is there already, none is written.',
  args: { dir: 'The folder to write; it is made when it is not there' },
  examples: ['sub gateway init gateway/'],
  exitCodes: {
    0: 'the files are written',
    2: 'wrong flags, a file that is there already, or a folder that cannot be written',
  },
  run: async ({ args }) => {
    const { dir } = args;
    const files = await writeExample(dir);
    const text = [
      `Wrote ${plural(files.length, 'file')} to ${dir}: ${files.join(', ')}.`,
      'Put it into git, fit pools.yaml and identity/ to what you have, set the keys that it names, and then:',
      `  sub gateway check ${shellWord(dir)}`,
    ];
    return printout({ dir: resolve(dir), files }, text.map(harmlessLine).join(''));
  },
});

export const orphans = defineCommand({
  description:
    'Lists the users, teams and repositories in the records of a gateway that its configuration does not know: their turns are paid by nobody, and no rule about them holds. It reads the database of the configuration.',
  args: { dir: 'The configuration of the gateway' },
  options: {
    from: textOption('time', 'Since when: a time, or how long ago, like 24h (default: 30d)'),
  },
  examples: ['sub gateway orphans gateway/', 'sub gateway orphans gateway/ --from 7d --json'],
  exitCodes: {
    0: 'the configuration knows all of them',
    1: 'there are turns of a user, team or repository that it does not know',
    2: 'wrong flags, a configuration with errors, or a database that cannot be opened',
  },
  run: async ({ args, options }, io) => {
    const nowMs = Date.now();
    const fromMs = timeOption('from', options.from ?? '30d', nowMs) ?? nowMs;
    const { openGateway } = await import('../gateway/open-store.ts');
    const { config, store } = orThrow(await openGateway(args.dir));
    try {
      const { identity, settings } = config;
      const known = {
        tenantId: settings.tenantId,
        users: [...identity.users.keys()],
        teams: [...identity.teams.keys()],
        repos: [...identity.repos.keys()],
      };
      const found = await store.records.orphans(known, fromMs);
      const rows = found.map(({ kind, value, traces, lastMs }) => {
        return { kind, value, traces, last: new Date(lastMs).toISOString() };
      });
      const text = orphanText(rows, io);
      const document = { from: new Date(fromMs).toISOString(), orphans: rows };
      return printout(document, text, rows.length > 0 ? EXIT.findings : EXIT.fine);
    } finally {
      await store.close();
    }
  },
});

interface OrphanRow {
  readonly kind: string;
  readonly value: string;
  readonly traces: number;
  readonly last: string;
}

function orphanText(rows: readonly OrphanRow[], io: Io): string {
  if (rows.length === 0) return 'No turns of unknown users, teams or repositories.\n';
  const columns = ['KIND', { title: 'ID', widthMin: 12 }, { title: 'TURNS', right: true }, 'LAST'];
  const cells = rows.map(({ kind, value, traces, last }) => [kind, value, traces, last]);
  const advice = harmlessLine('Add them to identity/, or revoke the keys that made these turns.');
  return tableText(columns, cells, { width: io.out.columns }) + advice;
}
