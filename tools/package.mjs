// `npm run package [FOLDER]`: the product as one file that npm can install, `subluminal-VERSION.tgz`.
// `--publish` (`npm run release`) hands it to the registry, with provenance where CI can prove it.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build as buildPage } from 'vite';
import { bundle } from './bundle.mjs';
import { ROOT } from './paths.mjs';

const LICENCE_FILE = /^(?:licen[cs]e|notice|copying)(?:[.-].*)?$/i;
const NPM = process.platform === 'win32' ? 'npm.cmd' : 'npm';

writeFileSync(join(ROOT, 'THIRD-PARTY-NOTICES.txt'), await notices());
// The scripts of npm are switched off in this checkout, so everything is built by now.
const [first = ROOT] = process.argv.slice(2);
const args =
  first === '--publish' ? ['publish'] : ['pack', '--silent', '--pack-destination', first];
const printed = execFileSync(NPM, args, {
  cwd: ROOT,
  encoding: 'utf8',
  shell: NPM.endsWith('.cmd'),
});
process.stdout.write(printed);

/** The licences of the packages whose code is inside ours. */
async function notices() {
  const { inputs } = await bundle();
  const folders = new Set();
  for (const path of [...inputs, ...(await pageInputs())]) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
    if (folder !== undefined) folders.add(resolve(ROOT, folder));
  }
  const texts = [...folders].toSorted().map((folder) => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const names = readdirSync(folder).filter((name) => LICENCE_FILE.test(name));
    const licences = names.map((name) => readFileSync(join(folder, name), 'utf8').trim());
    const title = `${manifest.name} ${manifest.version} (${manifest.license})`;
    return [title, '='.repeat(title.length), ...licences].join('\n\n');
  });
  return `This package contains code of these packages.\n\n${texts.join('\n\n\n')}\n`;
}

async function pageInputs() {
  const configFile = join(ROOT, 'packages', 'web', 'vite.config.ts');
  const { output } = await buildPage({ configFile, build: { write: false } });
  return output.flatMap(({ moduleIds = [] }) => moduleIds);
}
