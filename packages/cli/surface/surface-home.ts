// The configuration of manifests and pins.
import { type Failure, failure, isFailure, type Profile } from '@subluminal/contracts';
import type { PinStore } from '@subluminal/core/surface';
import { type ConfigFailure, type HomePaths, loadConfig } from '@subluminal/plane/config';
import { openPins } from '@subluminal/plane/surface';

export interface SurfaceHome {
  readonly kind: 'home';
  readonly paths: HomePaths;
  /** The folder of the manifests. */
  readonly folder: string;
  readonly profile: Profile;
}

export async function surfaceHome(): Promise<SurfaceHome | Failure> {
  const loaded = await loadConfig({ env: process.env, cwd: process.cwd() });
  if (loaded.ok) {
    const { config, paths } = loaded;
    return { kind: 'home', paths, folder: config['surface.manifests'], profile: config.profile };
  }
  const [first] = loaded.problems;
  if (first === undefined) throw new Error('a configuration that failed has a problem');
  const rest = loaded.problems.length - 1;
  const told = problemFailure(first);
  return rest === 0 ? told : { ...told, fix: `${told.fix} (${rest} more: see \`sub doctor\`.)` };
}

/** The code stands at the end of a failure, and only there. */
function problemFailure({ code, where, message, fix }: ConfigFailure): Failure {
  return failure(code, `${where}: ${message}.`, fix);
}

interface PinHome {
  readonly kind: 'pins';
  readonly home: string;
  readonly store: PinStore;
}

/** The pins of this user, and the folder that holds them. */
export async function openPinHome(): Promise<PinHome | Failure> {
  const found = await surfaceHome();
  if (isFailure(found)) return found;
  const { home } = found.paths;
  const opened = openPins(home);
  if (!isFailure(opened)) return { kind: 'pins', home, store: opened.store };
  return failure(opened.code, `the pins cannot be trusted: ${opened.message}`, opened.fix);
}
