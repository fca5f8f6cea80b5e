// docs/reference/config.md says what the table of settings says.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SETTING_KEYS, SETTINGS, type SettingKey } from './settings.ts';

const PAGE = readFileSync(new URL('../../../../docs/reference/config.md', import.meta.url), 'utf8');

function section(key: SettingKey): string {
  const { type, fallback, env, flag, doc } = SETTINGS[key];
  const shown = fallback === undefined ? 'none' : `\`${JSON.stringify(fallback)}\``;
  return [
    `### \`${key}\``,
    '',
    doc,
    '',
    `- Takes: ${type.words}.`,
    `- Default: ${shown}.`,
    `- Variable: \`${env}\`.`,
    ...(flag === undefined ? [] : [`- Flag: \`--${flag}\`.`]),
    '',
  ].join('\n');
}

test('the reference has exactly the settings of the table', () => {
  const [, settings = ''] = PAGE.split('\n## Settings\n\n');
  expect(settings).toBe(SETTING_KEYS.map(section).join('\n'));
});
