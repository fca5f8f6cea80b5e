import { PACK_VERSION } from '@subluminal/contracts';
import type { VersionInput } from '../catalog/about.ts';
import { done, type Outcome } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import manifest from '../package.json' with { type: 'json' };
import { jsonText } from '../text.ts';

export async function run({ options }: VersionInput, io: Io): Promise<Outcome> {
  const versions = {
    sub: manifest.version,
    contracts: PACK_VERSION,
    node: process.versions.node,
  };
  io.out.write(
    options.json
      ? jsonText(versions)
      : `sub ${versions.sub} (contracts ${versions.contracts}, node ${versions.node})\n`,
  );
  return done(EXIT.fine);
}
