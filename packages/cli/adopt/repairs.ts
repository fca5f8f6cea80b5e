// Repairs what killed commands have left, before a command does its work.
import { readdirSync } from 'node:fs';
import { type Env, homePaths } from '@subluminal/plane/config';

/**
 * One line for each repair, or for commands that change nothing, for each repair that is needed. A
 * home in which no config was ever changed costs one look at a folder; the rest is loaded only then.
 */
export async function repairs(env: Env, isLooking: boolean): Promise<readonly string[]> {
  const paths = homePaths(env);
  if (!hasRecords(paths.backups)) return [];
  const { repairBindings, repairHome, unrepaired, unrepairedBindings } = await import(
    '@subluminal/plane/clients/setup'
  );
  if (isLooking) return [...unrepaired({ paths }), ...unrepairedBindings({ paths })];
  // In this order: a record may need what a killed import has bound.
  return [...repairHome({ paths }), ...(await repairBindings({ paths }))];
}

/** One for each config that was changed, or that lost secrets just then; all else may be years old. */
const RECORD = /^(?:[0-9a-f]{32}|moving-.*)$/;

function hasRecords(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => RECORD.test(name));
  } catch {
    return false;
  }
}
