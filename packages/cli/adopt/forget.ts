// Runs `sub restore --forget` and prints the result.
import { type ForgetOptions, forgetConfigs } from '@subluminal/plane/clients/setup';
import { done, EXIT, type Outcome } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/text.ts';
import { problemParts, tellProblems } from './lines.ts';

export function forget(options: ForgetOptions, json: boolean, io: Io): Outcome {
  const { forgotten, problems } = forgetConfigs(options);
  const hasFailed = tellProblems(problems, io);
  if (json) io.out.write(jsonText({ forgotten, problems: problems.map(problemParts) }));
  else {
    for (const { path, original, secrets } of forgotten) {
      const kept = secrets.length === 0 ? '' : ` The store still has ${secrets.join(', ')}.`;
      const words = `${path} is gone, and forgotten. What it was before is kept in ${original}.${kept}`;
      io.out.write(`${harmless(words)}\n`);
    }
    if (forgotten.length === 0 && !hasFailed) io.out.write('Nothing to do.\n');
  }
  return done(hasFailed ? EXIT.usage : EXIT.fine);
}
