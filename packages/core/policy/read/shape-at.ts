// Which part of contract B a path leads to.
import { BUNDLE, type Shape } from '@subluminal/contracts';
import type { Path } from './finding.ts';
import { follow, type Tree } from './tree.ts';

/** The shape that the value at a path should have; undefined where the contract has none. */
export function shapeAt(path: Path, root: Tree): Shape | undefined {
  let shape: Shape | undefined = BUNDLE;
  for (const [index, step] of path.entries()) {
    shape = resolved(shape, path.slice(0, index), root);
    if (shape === undefined) return undefined;
    if (shape.kind === 'array') shape = shape.items;
    else if (shape.kind === 'record') shape = shape.values;
    else if (shape.kind !== 'object') return undefined;
    else {
      const { fields } = shape;
      shape = Object.hasOwn(fields, step) ? fields[step]?.shape : undefined;
    }
  }
  return resolved(shape, path, root);
}

/** Of several shapes, the one that the value itself has chosen by its tag. */
function resolved(shape: Shape | undefined, path: Path, root: Tree): Shape | undefined {
  if (shape?.kind !== 'variant') return shape;
  const { tree, whole } = follow(root, [...path, shape.tag]);
  if (!whole || tree.kind !== 'scalar' || typeof tree.value !== 'string') return undefined;
  return Object.hasOwn(shape.cases, tree.value) ? shape.cases[tree.value] : undefined;
}
