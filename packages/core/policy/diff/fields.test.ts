import { BUNDLE, RULE, type Shape } from '@subluminal/contracts';
import { expect, it } from 'vitest';
import { RULE_REVIEWS } from '../rules/reviews.ts';
import { DOCUMENT_FIELDS, RULE_FIELDS } from './fields.ts';
import { SECTIONS } from './sections.ts';

/** Fields for people, and the names of rules, are not compared. */
const NOT_COMPARED = new Set(['rule_id', 'kind', 'description', 'owner', 'created_at', 'rules']);

/** The paths of a shape down to what is not an object with named fields. */
function leavesOf(shape: Shape, path = ''): readonly string[] {
  if (shape.kind !== 'object') return [path];
  return Object.entries(shape.fields)
    .filter(([name]) => path !== '' || !NOT_COMPARED.has(name))
    .flatMap(([name, field]) => leavesOf(field.shape, path === '' ? name : `${path}.${name}`));
}

const effectFields = (kind: string) =>
  Object.entries(RULE_REVIEWS).find(([name]) => name === kind)?.[1].fields ?? [];

const knows = (fields: readonly { readonly path: string }[], leaf: string) =>
  fields.some(({ path }) => leaf === path || leaf.startsWith(`${path}.`));

it('the diff knows every field of a policy', () => {
  const fields = [...DOCUMENT_FIELDS, ...SECTIONS.flatMap((section) => section.fields)];
  const unknown = leavesOf(BUNDLE).filter((leaf) => !knows(fields, leaf));
  expect(unknown).toEqual([]);
});

it.each(Object.entries(RULE.cases))(
  'the diff knows every field of a rule of kind %s',
  (kind, shape) => {
    const fields = [...RULE_FIELDS, ...effectFields(kind)];
    const leaves = leavesOf(shape);
    expect(leaves.length).toBeGreaterThan(8);
    expect(leaves.filter((leaf) => !knows(fields, leaf))).toEqual([]);
  },
);

it('the diff knows no field that a rule does not have', () => {
  for (const [kind, shape] of Object.entries(RULE.cases)) {
    const leaves = leavesOf(shape);
    const fields = [...RULE_FIELDS, ...effectFields(kind)];
    const invented = fields.filter(({ path }) => !leaves.some((leaf) => knows([{ path }], leaf)));
    expect(invented).toEqual([]);
  }
});
