// The user's policy together with a project's policy that nobody has trusted: the second may only
// tighten the first.
import type { Bundle, SnapshotDocument } from '@subluminal/contracts';
import { type CompileOptions, compileDocument, type Snapshot } from './snapshot.ts';

/** One document of both; its hash covers both. */
export function tightenedDocument(
  user: SnapshotDocument,
  project: SnapshotDocument,
): SnapshotDocument {
  if (user.tightened_by !== undefined || project.tightened_by !== undefined) {
    throw new Error('a policy that holds two policies cannot be combined with another one');
  }
  return { ...user, tightened_by: project };
}

/** Compiles both into one snapshot: `decide` asks both, and the stricter decision wins. */
export function compileTightened(
  user: SnapshotDocument,
  project: SnapshotDocument,
  options: CompileOptions,
): Promise<Snapshot> {
  return compileDocument(tightenedDocument(user, project), options);
}

/**
 * The bundle of an untrusted policy, without what only a trusted one may say: fields by which a policy
 * switches off built-in protection.
 */
export function withoutTrustedFields({ self_protection: _onlyTrusted, ...rest }: Bundle): Bundle {
  return rest;
}
