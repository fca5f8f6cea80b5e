// What the commands can do, for the API of the daemon. Loaded when a page first asks for it.
import { tableFailure } from '@subluminal/contracts';
import type { Workbench } from '@subluminal/plane/api';
import type { WorkbenchHost } from '@subluminal/plane/daemon';
import { hintWorkbench } from './hints.ts';
import { recordWorkbench } from './ledger-records.ts';
import { pinWorkbench } from './pins.ts';
import { serverWorkbench } from './servers.ts';

const absent = async () => tableFailure('SUB_API_NOT_FOUND');

export async function openWorkbench(host: WorkbenchHost): Promise<Workbench> {
  return {
    policy: {
      active: absent,
      lint: absent,
      test: absent,
      diff: absent,
      replay: absent,
      explain: absent,
      suggest: absent,
      save: absent,
    },
    records: recordWorkbench(host),
    servers: serverWorkbench(host),
    pins: pinWorkbench(host),
    hints: hintWorkbench(host),
  };
}
