// What has to be put right before a command does its work.
import { readdirSync } from 'node:fs';
import { type Env, homePaths } from '@subluminal/plane/config';

/**
 * One line for each thing that was repaired, or for those who only look, that there is to repair. A home in which no config was ever changed costs a look
 * at one folder; everything else is loaded only then.
 */
async function repairs(env: Env, isLooking: boolean): Promise<readonly string[]> {
  const paths = homePaths(env);
  if (!hasRecords(paths.backups)) return [];
  const { repairHome, unrepaired } = await import('@subluminal/plane/main/adopt');
  return isLooking ? unrepaired({ paths }) : repairHome({ paths });
}

/** A folder for each config that was changed; what else is there may be years old. */
const RECORD = /^[0-9a-f]{32}$/;

function hasRecords(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => RECORD.test(name));
  } catch {
    return false;
  }
}

export { repairs };
