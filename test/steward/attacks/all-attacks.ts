import {
  CALENDAR_ROWS,
  FILE_ROWS,
  INSTALLED_SKILL_ROWS,
  MEMORY_ROWS,
  SKILL_ROWS,
  TOOL_ROWS,
} from './attacks-by-file.ts';
import { MAIL_ROWS } from './attacks-by-mail.ts';
import { PAGE_ROWS } from './attacks-by-page.ts';
import {
  calendarAttacks,
  fileAttacks,
  installedSkillAttacks,
  mailAttacks,
  memoryAttacks,
  pageAttacks,
  skillAttacks,
  toolAttacks,
} from './build.ts';
import type { Attack } from './scene.ts';

export const ATTACKS: readonly Attack[] = [
  ...mailAttacks(MAIL_ROWS),
  ...pageAttacks(PAGE_ROWS),
  ...fileAttacks(FILE_ROWS),
  ...calendarAttacks(CALENDAR_ROWS),
  ...toolAttacks(TOOL_ROWS),
  ...memoryAttacks(MEMORY_ROWS),
  ...skillAttacks(SKILL_ROWS),
  ...installedSkillAttacks(INSTALLED_SKILL_ROWS),
];
