import { PACK_VERSION } from '@subluminal/contracts';
import type { VersionInput } from '../catalog/about.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import manifest from '../package.json' with { type: 'json' };
import type { Io } from '../terminal/io.ts';
import { jsonText } from '../terminal/text.ts';

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
