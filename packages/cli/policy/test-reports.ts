// The results of policy tests in the forms that people and CI systems read.
import type { Output } from '../terminal/io.ts';
import { harmless, jsonText, plural } from '../terminal/text.ts';
import type { TestResult } from './run-tests.ts';

export const REPORT_FORMATS = ['text', 'json', 'junit', 'sarif', 'github'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];
type Results = readonly TestResult[];

const REPORTS: { readonly [F in ReportFormat]: (results: Results, out: Output) => string } = {
  text: textReport,
  json: (results) => jsonText(testDocument(results)),
  junit: junitReport,
  sarif: (results) => jsonText(sarifReport(results)),
  github: githubReport,
};

export function renderTests(results: Results, format: ReportFormat, out: Output): string {
  return REPORTS[format](results, out);
}

function testDocument(results: Results): object {
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

function sarifReport(results: Results): object {
  const failed = results.filter(({ faults }) => faults.length > 0);
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'sub policy test',
            rules: [
              {
                id: 'policy-test',
                shortDescription: { text: 'A policy does not decide as its test expects.' },
              },
            ],
          },
        },
        results: failed.map(({ file, name, position, faults }) => ({
          ruleId: 'policy-test',
          level: 'error',
          message: { text: `${name}: ${faults.join('; ')}` },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: encodeURI(file) },
                region: { startLine: position.line, startColumn: position.column },
              },
            },
          ],
        })),
      },
    ],
  };
}

/** Workflow commands, which GitHub shows beside the line; a line break must not begin another one. */
function githubReport(results: Results, out: Output): string {
  const failed = results.filter(({ faults }) => faults.length > 0);
  const commands = failed.map(({ file, name, position, faults }) => {
    const place = `file=${escaped(file, true)},line=${position.line},col=${position.column}`;
    const message = escaped(`${name}: ${faults.join('; ')}`, false);
    return `::error ${place},title=Policy test::${message}\n`;
  });
  return commands.join('') + textReport(results, out);
}

function escaped(text: string, isProperty: boolean): string {
  const plain = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  return isProperty ? plain.replaceAll(':', '%3A').replaceAll(',', '%2C') : plain;
}
