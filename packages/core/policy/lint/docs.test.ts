import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseWhen } from '../match/when.ts';
import { loadPatternChecks, parseBundle } from '../read/parse.ts';
import { lintBundle } from './lint.ts';

const ROOT = new URL('../../../../', import.meta.url);
const PAGES = ['README.md', ...pagesIn('docs/')];

function pagesIn(folder: string): readonly string[] {
  return readdirSync(new URL(folder, ROOT), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.name.endsWith('.md'))
    .map((entry) => `${entry.parentPath}/${entry.name}`.slice(ROOT.pathname.length));
}

/** Bundles that a page shows whole, and lists of rules in a bundle around them. */
function bundlesIn(page: string): readonly string[] {
  const text = readFileSync(new URL(page, ROOT), 'utf8');
  const blocks = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  return blocks.flatMap((block) => {
    if (/^policy_id:/m.test(block)) return [block];
    if (!/^- rule_id:/m.test(block)) return [];
    const rules = block.replaceAll(/^(?=.)/gm, '  ');
    return [
      `policy_id: p\nversion: "1"\nmode: control\ndefaults: { decision_on_error: BLOCK }\nselectors: {}\nhint_delivery: tool_result\nrules:\n${rules}`,
    ];
  });
}

test.each(PAGES.filter((page) => bundlesIn(page).length > 0))(
  'the policies of %s are valid and have no warnings',
  async (page) => {
    const checks = await loadPatternChecks();
    const found = bundlesIn(page).flatMap((text) => {
      const parsed = parseBundle({ file: page, text }, { checks });
      if (!parsed.ok) return parsed.problems;
      const options = { file: page, nowMs: Date.parse('2026-11-01T00:00:00Z'), parseWhen };
      return lintBundle(parsed.bundle, parsed.positionOf, options);
    });
    expect(found.filter(({ level }) => level !== 'note')).toEqual([]);
  },
);
