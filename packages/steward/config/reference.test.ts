// docs/reference/steward-config.md says what the shapes of the files say.
import { readFileSync } from 'node:fs';
import { STEWARD_CONFIG_FILES } from '@subluminal/contracts';
import { expect, test } from 'vitest';
import { fieldTable } from '../../../test/field-table.ts';

const PAGE = readFileSync(
  new URL('../../../docs/reference/steward-config.md', import.meta.url),
  'utf8',
);

test.each(Object.entries(STEWARD_CONFIG_FILES))(
  'the reference has every field of %s',
  (name, { shape }) => {
    const [, section = ''] = PAGE.split(`\n## ${name}\n`);
    expect(section.split('\n## ')[0]).toContain(`\n${fieldTable(shape)}\n`);
  },
);
