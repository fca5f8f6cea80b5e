// Whether the database around the events is ours: its schema, its pages and its indexes.
import { LedgerError } from '../chain/ledger-error.ts';
import type { ChainReader, StructureFault } from '../store/engine.ts';
import { type Findings, NOWHERE } from './finding.ts';

const KIND = { schema: 'schema', index: 'index', damaged: 'unreadable' } as const;

/** True when a table is missing or another one: then no row can be believed. */
export async function hasForeignTables(reader: ChainReader, findings: Findings): Promise<boolean> {
  const faults = await reader.schemaFaults();
  report(faults, findings);
  return faults.some(({ isTable }) => isTable);
}

/** Reads everything once more, by SQLite's own check. */
export async function checkContent(reader: ChainReader, findings: Findings): Promise<void> {
  try {
    report(await reader.contentFaults(), findings);
  } catch (cause) {
    if (!(cause instanceof LedgerError) || cause.code !== 'SUB_LEDGER_CORRUPT') throw cause;
    findings.error('unreadable', NOWHERE, `the file is damaged: ${cause.message}`);
  }
}

function report(faults: readonly StructureFault[], findings: Findings): void {
  for (const { kind, message } of faults) findings.error(KIND[kind], NOWHERE, message);
}
