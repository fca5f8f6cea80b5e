// Who may import whom: between packages, inside the plane, and from the registry.
import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import { type Import, importsOf } from '../imports.ts';
import { PACKAGES, SCOPE } from '../layout.ts';
import type { Finding, Source } from '../source.ts';

interface Place {
  /** The folder under `packages/`, or undefined outside of them. */
  readonly packageName: string | undefined;
  /** The first folder inside the package, or undefined for a file at its root. */
  readonly folder: string | undefined;
}

const BUILTINS = new Set(builtinModules);

export function layers(source: Source): readonly Finding[] {
  return importsOf(source).flatMap((item) => {
    const message = problemOf(source, item);
    return message === undefined
      ? []
      : [{ path: source.path, line: item.line, rule: 'layers', message }];
  });
}

function problemOf(source: Source, { specifier, dynamic }: Import): string | undefined {
  const pure = isPure(source);
  if (specifier === undefined) {
    return pure ? 'a pure package imports nothing that is only known at run time' : undefined;
  }
  if (specifier.startsWith('.')) return relativeProblem(source, specifier);
  if (specifier.startsWith(SCOPE)) return workspaceProblem(source, specifier);
  if (specifier.startsWith('node:') || BUILTINS.has(specifier)) {
    return pure ? `a pure package has no I/O of its own, but imports ${specifier}` : undefined;
  }
  return thirdPartyProblem(source, specifier, dynamic);
}

function isPure(source: Source): boolean {
  return !source.isTest && layoutOf(source)?.pure === true;
}

function layoutOf({ packageName }: Source) {
  return packageName === undefined ? undefined : PACKAGES[packageName];
}

function relativeProblem(source: Source, specifier: string): string | undefined {
  const from = placeOf(source.path);
  const path = posix.join(posix.dirname(source.path), specifier);
  const to = placeOf(path);
  if (!source.isTest && path.includes('/testing/')) return `only tests import ${specifier}`;
  if (from.packageName === to.packageName) return siblingProblem(source, from, to);
  if (to.packageName !== undefined) {
    return `reaches into packages/${to.packageName} by path; import ${SCOPE}${to.packageName}/… instead`;
  }
  return source.isTest ? undefined : `leaves its package: ${specifier}`;
}

function workspaceProblem(source: Source, specifier: string): string | undefined {
  const [name = '', folder] = specifier.slice(SCOPE.length).split('/');
  const from = placeOf(source.path);
  if (from.packageName === undefined) return undefined;
  if (from.packageName === name) return siblingProblem(source, from, { packageName: name, folder });
  if (PACKAGES[from.packageName]?.below.includes(name)) return undefined;
  return `packages/${from.packageName} may not import ${SCOPE}${name}`;
}

/** Inside a package with a wiring folder, the others know nothing of each other. */
function siblingProblem(source: Source, from: Place, to: Place): string | undefined {
  const { wiring, bottom = [] } = layoutOf(source) ?? {};
  if (wiring === undefined || source.isTest) return undefined;
  if (from.folder === wiring || to.folder === undefined || from.folder === to.folder) {
    return undefined;
  }
  if (bottom.includes(to.folder) && !isAbove(bottom, to.folder, from.folder)) return undefined;
  return `${from.folder ?? 'the root'} may not import ${to.folder}; only ${wiring}/ wires folders together`;
}

/** Whether the one folder stands above the other at the bottom. */
function isAbove(bottom: readonly string[], one: string, other: string | undefined): boolean {
  return (
    other !== undefined && bottom.includes(other) && bottom.indexOf(one) > bottom.indexOf(other)
  );
}

function thirdPartyProblem(
  source: Source,
  specifier: string,
  dynamic: boolean,
): string | undefined {
  const allowed = layoutOf(source)?.thirdParty;
  if (allowed === undefined || source.isTest) return undefined;
  const parts = specifier.split('/');
  const name = parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
  if (allowed.includes(name)) return undefined;
  const verb = dynamic ? 'loads' : 'imports';
  return `packages/${source.packageName} ${verb} ${name}, which tools/tidy/layout.ts does not list`;
}

function placeOf(path: string): Place {
  const [top, packageName, ...rest] = path.split('/');
  if (top !== 'packages') return { packageName: undefined, folder: undefined };
  return { packageName, folder: rest.length > 1 ? rest[0] : undefined };
}
