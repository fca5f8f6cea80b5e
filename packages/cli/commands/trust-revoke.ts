import { isFailure } from '@subluminal/contracts';
import { revokeTrust } from '@subluminal/plane/policy';
import type { TrustRevokeInput } from '../catalog/trust.ts';
import { done, EXIT, type Outcome } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, jsonText } from '../terminal/text.ts';
import { storeFailure, trustPlace } from '../trust/place.ts';

export async function run({ args, options }: TrustRevokeInput, io: Io): Promise<Outcome> {
  const place = trustPlace(args.file);
  if (isFailure(place)) return place;
  const { home, path } = place;
  const saved = await revokeTrust(home, path);
  if (!saved.ok) return storeFailure(saved);
  if (options.json) io.out.write(jsonText({ path, revoked: saved.changed }));
  else {
    const words = saved.changed ? 'is not trusted any more' : 'was not trusted';
    io.out.write(`${harmless(path)} ${words}.\n`);
  }
  return done(EXIT.fine);
}
