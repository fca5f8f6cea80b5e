// Makes a policy ready to decide from what was kept of it: without YAML.
import { isFailure, type Profile } from '@subluminal/contracts';
import { openSnapshot, type Snapshot } from '@subluminal/core/policy';
import { sha256 } from '../../os/crypto/index.ts';
import { projectPaths } from './project-paths.ts';

/** Undefined where it is no snapshot that this version opens. */
export async function openCompiled(
  sealed: object,
  profile: Profile,
): Promise<Snapshot | undefined> {
  const opened = await openSnapshot(sealed, { sha256, profile, paths: projectPaths() });
  return isFailure(opened) ? undefined : opened;
}
