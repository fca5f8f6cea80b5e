import { homePaths } from '@subluminal/plane/config';
import { unwrapAll } from '@subluminal/plane/main/adopt';
import { tellProblems } from '../adopt/lines.ts';
import type { UnwrapInput } from '../catalog/adopt.ts';
import { done, type Outcome } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { harmless, jsonText } from '../text.ts';

async function run({ options }: UnwrapInput, io: Io): Promise<Outcome> {
  const { env } = process;
  const { restored, elsewhere, problems } = unwrapAll({
    env,
    project: process.cwd(),
    paths: homePaths(env),
    isEverywhere: options.all,
  });
  const hasFailed = tellProblems(problems, io);
  if (options.json) io.out.write(jsonText({ restored, elsewhere, problems }));
  else {
    for (const path of restored) io.out.write(`${harmless(path)} was put back.\n`);
    if (elsewhere.length > 0) {
      const words = `left as they are, of other projects: ${elsewhere.join(', ')}; --all takes them too.`;
      io.err.write(`sub: ${harmless(words)}\n`);
    }
    if (restored.length === 0 && !hasFailed) io.out.write('Nothing to do.\n');
  }
  return done(hasFailed ? EXIT.usage : EXIT.fine);
}

export { run };
