// The results of policy tests in the forms that people and CI systems read.
import type { Output } from '../terminal/io.ts';
import { harmless, jsonText, plural } from '../terminal/text.ts';
import { type FileFinding, githubCommands, sarifLog } from './ci-reports.ts';
import type { TestResult } from './run-tests.ts';

export const REPORT_FORMATS = ['text', 'json', 'junit', 'sarif', 'github'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];
type Results = readonly TestResult[];

const REPORTS: { readonly [F in ReportFormat]: (results: Results, out: Output) => string } = {
  text: textReport,
  json: (results) => jsonText(testReport(results)),
  junit: junitReport,
  sarif: (results) => jsonText(sarifLog(SARIF_TOOL, findingsOf(results))),
  github: (results, out) =>
    githubCommands('Policy test', findingsOf(results)) + textReport(results, out),
};

export function renderTests(results: Results, format: ReportFormat, out: Output): string {
  return REPORTS[format](results, out);
}

/** The results as `--json` has them. */
export function testReport(results: Results) {
  return {
    tests: results.map(({ position, faults, ...rest }) => {
      return { ...rest, line: position.line, passed: faults.length === 0, faults };
    }),
    summary: { passed: passedIn(results), failed: results.length - passedIn(results) },
  };
}

function passedIn(results: Results): number {
  return results.filter(({ faults }) => faults.length === 0).length;
}

function textReport(results: Results, { colors }: Output): string {
  const lines = results.map(({ file, name, position, faults }) => {
    if (faults.length === 0) return `${colors.green('✔')} ${harmless(name)}\n`;
    const head = `${colors.red('✘')} ${harmless(name)}  ${colors.dim(harmless(`${file}:${position.line}`))}\n`;
    return head + faults.map((fault) => `    ${harmless(fault)}\n`).join('');
  });
  const failed = results.length - passedIn(results);
  const end = failed === 0 ? 'all passed' : `${failed} failed`;
  return `${lines.join('')}${plural(results.length, 'test')}, ${end}\n`;
}

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};

/** XML forbids most control characters even as references. */
function xml(text: string): string {
  const plain = text.replaceAll(/[\0-\x08\x0b-\x1f\x7f\ufffe\uffff]/g, '\ufffd');
  return plain.replaceAll(/[&<>"\n]/g, (character) => ESCAPES[character] ?? '');
}

function junitReport(results: Results): string {
  const failed = results.length - passedIn(results);
  const cases = results.map(({ file, name, position, faults }) => {
    const head = `    <testcase classname="${xml(file)}" name="${xml(name)}" file="${xml(file)}" line="${position.line}"`;
    if (faults.length === 0) return `${head}/>\n`;
    return `${head}>\n      <failure message="${xml(faults.join('\n'))}"/>\n    </testcase>\n`;
  });
  const counts = `tests="${results.length}" failures="${failed}"`;
  const suite = `  <testsuite name="sub policy test" ${counts}>\n${cases.join('')}  </testsuite>\n`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${counts}>\n${suite}</testsuites>\n`;
}

function findingsOf(results: Results): readonly FileFinding[] {
  const failed = results.filter(({ faults }) => faults.length > 0);
  return failed.map(({ file, name, position, faults }) => {
    const message = `${name}: ${faults.join('; ')}`;
    return { level: 'error', code: 'policy-test', file, position, message };
  });
}

const SARIF_TOOL = {
  name: 'sub policy test',
  describe: () => 'A policy does not decide as its test expects.',
};
