// docs/reference/gateway-config.md says what the shapes of the files say.
import { readFileSync } from 'node:fs';
import { GATEWAY_CONFIG_FILES } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { fieldTable } from '../../../test/field-table.ts';
import { CONFIG_FILES } from './config-folder.ts';

const PAGE = readFileSync(
  new URL('../../../docs/reference/gateway-config.md', import.meta.url),
  'utf8',
);

test.each(Object.entries(GATEWAY_CONFIG_FILES))(
  'the reference has every field of %s',
  (key, form) => {
    const name = Object.entries(CONFIG_FILES).find(([one]) => one === key)?.[1] ?? '';
    const [, section = ''] = PAGE.split(`\n## ${name}\n`);
    expect(section.split('\n## ')[0]).toContain(`\n${fieldTable(form.shape)}\n`);
  },
);
