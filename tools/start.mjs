// `npm start`: the product's main job, on an example of its own.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './setup/paths.mjs';

const ARGS = [
  'policy',
  'explain',
  'examples/policies/starter.yaml',
  '--call',
  'examples/calls/delete-repo.json',
];

const command = [join('packages', 'cli', 'bin', 'sub.mjs'), ...ARGS, ...process.argv.slice(2)];
// A reader that has seen enough (`| head`) is no error.
process.stdout.on('error', () => process.exit(0));
process.stdout.write(
  'Three tool calls of an agent, decided by examples/policies/starter.yaml:\n\n',
);
const { status } = spawnSync(process.execPath, command, { cwd: ROOT, stdio: 'inherit' });
// 1 says that a call was refused, which is what the example is there to show.
process.exitCode = status === 1 ? 0 : (status ?? 1);
if (process.exitCode === 0) {
  process.stdout.write(
    '\nChange the policy or examples/calls/delete-repo.json and run `npm start` again, or:\n' +
      '  npx --no-install sub policy lint examples/policies/starter.yaml\n' +
      '  npx --no-install sub help policy\n',
  );
}
