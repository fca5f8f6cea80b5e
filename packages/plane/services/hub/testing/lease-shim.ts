// A shim without a process: a session that counts by leases, and frames that arrive when the test says; for
// tests only.
import type { LeaseResponse, Recall, ReturnRequest } from '@subluminal/contracts/hub-frames';
import { type HubAnswer, Session } from '@subluminal/core/session';
import { sha256 } from '../../../os/crypto/index.ts';
import type { Hub } from '../hub.ts';
import type { LeaseHolder } from '../leases.ts';
import { RUN, type SealedPolicy } from './scenario.ts';

type ToHub =
  | { readonly kind: 'lease'; readonly leases: ReturnRequest['leases'] }
  | { readonly kind: 'return'; readonly request: ReturnRequest };
type ToShim =
  | { readonly kind: 'leased'; readonly response: LeaseResponse }
  | { readonly kind: 'recall'; readonly recall: Recall };

export class LeaseShim implements LeaseHolder {
  passes = 0;
  refusals: string[] = [];
  isGone = false;
  readonly #hub: Hub;
  readonly #policy: SealedPolicy;
  readonly #session: Session;
  readonly #toHub: ToHub[] = [];
  readonly #toShim: ToShim[] = [];
  /** Calls that the agent has made and that wait for their turn. */
  readonly #calls: string[] = [];
  #waiting: ReturnType<Session['read']> | undefined;
  #ids = 0;

  constructor(hub: Hub, policy: SealedPolicy, name: string) {
    this.#hub = hub;
    this.#policy = policy;
    this.#session = new Session({
      serverName: name,
      profile: 'production',
      snapshot: policy.snapshot,
      identity: { run_id: RUN, agent_id: 'agent', client: 'claude', env: 'dev' },
      callId: () => `${name}-${++this.#ids}`,
      sha256,
      hub: true,
      leases: true,
    });
    hub.join(this);
  }

  recall(recall: Recall): void {
    this.#toShim.push({ kind: 'recall', recall });
  }

  stop(): void {}

  get isWaiting(): boolean {
    return this.#waiting !== undefined || this.#calls.length > 0;
  }

  /** The agent calls a tool. */
  call(tool: string): void {
    this.#calls.push(tool);
    this.#next();
  }

  /** What the shim has written arrives at the hub; false when there was nothing. */
  deliverToHub(): boolean {
    const frame = this.#toHub.shift();
    if (frame === undefined) return false;
    if (frame.kind === 'return') {
      this.#hub.giveBack(frame.request, this);
      return true;
    }
    const request = { run_id: RUN, policy_hash: this.#policy.hash, leases: frame.leases };
    void this.#hub.lease(request, this).then((response) => {
      if ('kind' in response) throw new Error(response.message);
      this.#toShim.push({ kind: 'leased', response });
    });
    return true;
  }

  /** What the hub has written arrives at the shim. */
  deliverToShim(): boolean {
    const frame = this.isGone ? undefined : this.#toShim.shift();
    if (frame === undefined) return false;
    if (frame.kind === 'recall') this.#giveBack(frame.recall);
    else this.#goOn(frame.response);
    return true;
  }

  /** It returns what it does not need at this moment. */
  giveBack(): void {
    if (!this.isGone) this.#giveBack();
  }

  /** Its process is gone, whatever it still held. */
  die(): void {
    this.isGone = true;
    this.#waiting = undefined;
    this.#calls.length = 0;
    this.#toHub.length = 0;
    this.#hub.leave(this);
  }

  #giveBack(recalled?: Recall): void {
    const leases = this.#session.giveUpLeases(0, recalled?.leases);
    const returned = { policy_hash: this.#policy.hash, leases };
    const request = recalled === undefined ? returned : { ...returned, recall: recalled.recall };
    this.#toHub.push({ kind: 'return', request });
  }

  #next(): void {
    if (this.#waiting !== undefined) return;
    const tool = this.#calls.shift();
    if (tool === undefined) return;
    const params = { name: tool, arguments: {} };
    const text = JSON.stringify({ jsonrpc: '2.0', id: ++this.#ids, method: 'tools/call', params });
    const message = this.#session.read('agent', Buffer.from(`${text}\n`));
    const [question] = this.#session.questions(message, 0);
    if (question === undefined) return this.#handle(message);
    if (question.leases === undefined) throw new Error('the call is for the hub to decide');
    this.#waiting = message;
    this.#toHub.push({ kind: 'lease', leases: question.leases });
  }

  #goOn({ leases, terminated }: LeaseResponse): void {
    const message = this.#waiting;
    this.#waiting = undefined;
    const leased = { policyHash: this.#policy.hash, leases, terminated };
    if (message !== undefined) this.#handle(message, { callId: '', outcome: undefined, leased });
  }

  #handle(message: ReturnType<Session['read']>, answer?: HubAnswer): void {
    const reply = answer === undefined ? undefined : { answers: [answer] };
    for (const command of this.#session.handle(message, 0, reply)) {
      if (command.do === 'forward') this.passes++;
      if (command.do === 'answer') this.refusals.push(command.text);
    }
    this.#next();
  }
}
