import { homePaths, loadConfig, userHome } from '@subluminal/plane/config';
import { type Checked, checkAll } from '../doctor/all-checks.ts';
import type { Level, Machine } from '../doctor/check.ts';
import { defineCommand, EXIT, printout } from '../input/command.ts';
import manifest from '../package.json' with { type: 'json' };
import type { Colors, Output } from '../terminal/io.ts';
import { hanging, plural } from '../terminal/text.ts';

const MARKS: { readonly [L in Level]: string } = { ok: '✔', warn: '!', broken: '✘' };

export const command = defineCommand({
  description:
    'Checks Node, the build, the home folder, the configuration, the policy, the secrets of servers, the ledger and its daemon, the spool, whether the servers and the own tools of agent clients go through sub, the gateway of the login, and the proxy. It changes nothing, starts nothing, and prints no value of any configuration.',
  examples: ['sub doctor', 'sub doctor --json'],
  exitCodes: { 0: 'no check failed; there may be warnings', 1: 'a check failed', 2: 'wrong flags' },
  run: async (_input, io) => {
    const checked = await checkAll(await thisMachine());
    const isBroken = checked.some(({ finding }) => finding.level === 'broken');
    return printout(
      documentOf(checked),
      textOf(checked, io.out),
      isBroken ? EXIT.findings : EXIT.fine,
    );
  },
});

async function thisMachine(): Promise<Machine> {
  const { env } = process;
  const cwd = process.cwd();
  return {
    env,
    cwd,
    userHome: userHome(env),
    paths: homePaths(env),
    loaded: await loadConfig({ env, cwd }),
    nowMs: Date.now(),
    versions: { node: process.versions.node, sub: manifest.version },
    launcher: process.argv[1],
  };
}

function documentOf(checked: readonly Checked[]) {
  return {
    ok: checked.every(({ finding }) => finding.level !== 'broken'),
    checks: checked.map(({ id, finding: { level, text, fix = null, more = [] } }) => ({
      id,
      level,
      text,
      fix,
      more,
    })),
  };
}

function textOf(checked: readonly Checked[], { colors, columns }: Output): string {
  const width = Math.max(...checked.map(({ id }) => id.length));
  const indent = ' '.repeat(width + 4);
  const lines = checked.flatMap(({ id, finding: { level, text, fix, more = [] } }) => {
    const head = `${painted(level, colors)(`${MARKS[level]} ${id.padEnd(width)}`)}  `;
    return [
      ...hanging(head, text, columns),
      ...more.flatMap((line) => hanging(indent, line, columns)),
      ...(fix === undefined ? [] : hanging(indent, `→ ${fix}`, columns).map(colors.dim)),
    ];
  });
  return `${[...lines, '', summaryOf(checked)].join('\n')}\n`;
}

function summaryOf(checked: readonly Checked[]): string {
  const count = (level: Level) => checked.filter(({ finding }) => finding.level === level).length;
  const [broken, warnings] = [count('broken'), count('warn')];
  if (broken === 0 && warnings === 0) return 'All is well.';
  return `${plural(broken, 'broken part')}, ${plural(warnings, 'warning')}.`;
}

function painted(level: Level, colors: Colors): (text: string) => string {
  if (level === 'ok') return colors.green;
  return level === 'warn' ? colors.yellow : colors.red;
}
