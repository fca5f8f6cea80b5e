// What the commands can do, for the API of the daemon. Loaded when a page first asks for it.
import type { Workbench } from '@subluminal/plane/api';
import type { WorkbenchHost } from '@subluminal/plane/daemon';
import { hintWorkbench } from './hints.ts';
import { recordWorkbench } from './ledger-records.ts';
import { pinWorkbench } from './pins.ts';
import { policyWorkbench } from './policies.ts';
import { serverWorkbench } from './servers.ts';

export async function openWorkbench(host: WorkbenchHost): Promise<Workbench> {
  return {
    policy: policyWorkbench(host),
    records: recordWorkbench(host),
    servers: serverWorkbench(host),
    pins: pinWorkbench(host),
    hints: hintWorkbench(host),
  };
}
