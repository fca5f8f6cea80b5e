// Who may import whom: between packages, inside the plane, and from the registry.
import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import { type Import, importsOf } from '../imports.ts';
import { PACKAGES, SCOPE } from '../layout.ts';
import type { Finding, Source } from '../source.ts';

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
  const from = packageOf(source.path);
  const path = posix.join(posix.dirname(source.path), specifier);
  const to = packageOf(path);
  if (!source.isTest && path.includes('/testing/')) return `only tests import ${specifier}`;
  if (from === to) return undefined;
  if (to !== undefined) {
    return `reaches into packages/${to} by path; import ${SCOPE}${to}/… instead`;
  }
  return source.isTest ? undefined : `leaves its package: ${specifier}`;
}

function workspaceProblem(source: Source, specifier: string): string | undefined {
  const [name = ''] = specifier.slice(SCOPE.length).split('/');
  const from = packageOf(source.path);
  if (from === undefined) return undefined;
  if (from === name) return source.isTest ? undefined : 'imports its own package by name';
  if (PACKAGES[from]?.below.includes(name)) return undefined;
  return `packages/${from} may not import ${SCOPE}${name}`;
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

/** The folder under `packages/`, or undefined outside of them. */
function packageOf(path: string): string | undefined {
  const [top, name] = path.split('/');
  return top === 'packages' ? name : undefined;
}
