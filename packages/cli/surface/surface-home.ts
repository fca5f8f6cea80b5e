// Where the manifests and the pins of this user are.
import { failure, isFailure, type Profile } from '@subluminal/contracts';
import type { PinStore } from '@subluminal/core/surface';
import { openPins } from '@subluminal/plane/surface';
import { orThrow } from '../input/command.ts';
import { loadOwnConfig } from '../input/own-config.ts';

export interface SurfaceHome {
  /** The folder of sub. */
  readonly home: string;
  /** The folder of the manifests. */
  readonly folder: string;
  readonly profile: Profile;
}

/** Throws its failure. */
export async function surfaceHome(): Promise<SurfaceHome> {
  const { config, paths } = await loadOwnConfig();
  return { home: paths.home, folder: config['surface.manifests'], profile: config.profile };
}

/** The pins of this user, and the folder that holds them. Throws its failure. */
export async function openPinHome(): Promise<{ readonly home: string; readonly store: PinStore }> {
  const { home } = await surfaceHome();
  const opened = openPins(home);
  if (!isFailure(opened)) return { home, store: opened.store };
  const { code, message, fix } = opened;
  return orThrow(failure(code, `the pins cannot be trusted: ${message}`, fix));
}
