import { type Unwrapped, unwrapAll } from '@subluminal/plane/clients/setup';
import { homePaths } from '@subluminal/plane/config';
import { problemParts, tellProblems } from '../adopt/lines.ts';
import { defineCommand, done, EXIT } from '../input/command.ts';
import { warn } from '../terminal/report-failure.ts';
import { harmless, jsonText } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Restores configs after a `sub wrap` that was killed or used --no-restore. The config of a `sub wrap` that is still running stays as it is: end that one first.',
  options: { all: 'Also restore configs of other projects' },
  examples: ['sub unwrap', 'sub unwrap --all'],
  exitCodes: {
    0: 'no config is left rewritten',
    1: 'configs of other projects, or of another SUB_HOME, are still rewritten',
    2: 'wrong flags, a `sub wrap` that is still running, or a config that cannot be restored safely',
  },
  requires: 'person',
  run: async ({ options }, io) => {
    const { env } = process;
    const unwrapped = unwrapAll({
      env,
      project: process.cwd(),
      paths: homePaths(env),
      isEverywhere: options.all,
    });
    const { restored, elsewhere, unknown, warnings, problems } = unwrapped;
    const hasFailed = tellProblems(problems, io);
    for (const line of [...warnings, ...leftLines(unwrapped)]) warn(io, line);
    const isClean = elsewhere.length + unknown.length === 0;
    if (options.json) {
      const told = { restored, elsewhere, unknown, warnings };
      io.out.write(jsonText({ ...told, problems: problems.map(problemParts) }));
    } else {
      for (const path of restored) io.out.write(`${harmless(path)} was put back.\n`);
      if (restored.length + warnings.length === 0 && isClean && !hasFailed) {
        io.out.write('Nothing to do.\n');
      }
    }
    if (hasFailed) return done(EXIT.usage);
    return done(isClean ? EXIT.fine : EXIT.findings);
  },
});

function leftLines({ elsewhere, unknown }: Unwrapped): readonly string[] {
  const lines = unknown.map(
    ({ path, client }) =>
      `${path} starts shims of a \`sub wrap\` that this home has no record of. If none runs with another SUB_HOME, take them out with: sub restore ${client}`,
  );
  if (elsewhere.length === 0) return lines;
  return [
    ...lines,
    `left rewritten, because they are of other projects: ${elsewhere.join(', ')}; --all takes them too.`,
  ];
}
