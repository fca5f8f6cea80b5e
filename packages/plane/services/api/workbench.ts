// What the API needs of the commands of `sub`: the daemon gets it from the program that starts it,
// and loads it only when somebody asks.
import type {
  ApiAcceptPins,
  ApiCallRecord,
  ApiHints,
  ApiHintsQuery,
  ApiLedger,
  ApiPinsAccepted,
  ApiPinsDiff,
  ApiPolicyActive,
  ApiPolicyActiveQuery,
  ApiPolicyDiff,
  ApiPolicyDiffInput,
  ApiPolicyExplained,
  ApiPolicyExplainInput,
  ApiPolicyLint,
  ApiPolicyLintInput,
  ApiPolicyReplay,
  ApiPolicyReplayInput,
  ApiPolicySaved,
  ApiPolicySaveInput,
  ApiPolicySuggested,
  ApiPolicySuggestInput,
  ApiPolicyTestInput,
  ApiPolicyTests,
  ApiProbeWish,
  ApiPromote,
  ApiPromoted,
  ApiPrune,
  ApiPruneJob,
  ApiSecrets,
  ApiServer,
  ApiServers,
  ApiServersQuery,
  ApiVerify,
  ApiVerifyJob,
  Failure,
} from '@subluminal/contracts';

/** A failure may also be thrown, as commands do. Long work stops at the signal. */
export interface PolicyWorkbench {
  active(query: ApiPolicyActiveQuery): Promise<ApiPolicyActive | Failure>;
  lint(input: ApiPolicyLintInput): Promise<ApiPolicyLint | Failure>;
  test(input: ApiPolicyTestInput, signal: AbortSignal): Promise<ApiPolicyTests | Failure>;
  diff(input: ApiPolicyDiffInput): Promise<ApiPolicyDiff | Failure>;
  replay(input: ApiPolicyReplayInput, signal: AbortSignal): Promise<ApiPolicyReplay | Failure>;
  explain(input: ApiPolicyExplainInput, signal: AbortSignal): Promise<ApiPolicyExplained | Failure>;
  suggest(input: ApiPolicySuggestInput, signal: AbortSignal): Promise<ApiPolicySuggested | Failure>;
  save(input: ApiPolicySaveInput): Promise<ApiPolicySaved | Failure>;
}

export interface ServerWorkbench {
  list(query: ApiServersQuery): Promise<ApiServers | Failure>;
  one(server: string, query: ApiServersQuery): Promise<ApiServer | Failure>;
  secrets(): Promise<ApiSecrets | Failure>;
}

export interface PinWorkbench {
  diff(server: string): Promise<ApiPinsDiff | Failure>;
  /** Starts the server, or reaches it, and keeps what it shows to be accepted. */
  probe(server: string, wish: ApiProbeWish): Promise<ApiPinsDiff | Failure>;
  accept(server: string, input: ApiAcceptPins): Promise<ApiPinsAccepted | Failure>;
}

export interface HintWorkbench {
  list(query: ApiHintsQuery): Promise<ApiHints | Failure>;
  promote(
    call: { readonly runId: string; readonly callId: string },
    input: ApiPromote,
  ): Promise<ApiPromoted | Failure>;
}

export interface RecordWorkbench {
  /** All that is known about a call. */
  call(runId: string, callId: string): Promise<ApiCallRecord | Failure>;
  ledger(): Promise<ApiLedger>;
  /** Both begin, and are told of by `ledger`; a dry run is over at once. */
  verify(input: ApiVerify): Promise<ApiVerifyJob | Failure>;
  prune(input: ApiPrune): Promise<ApiPruneJob | Failure>;
}

/** One member for each group of endpoints. */
export interface Workbench {
  readonly policy: PolicyWorkbench;
  readonly records: RecordWorkbench;
  readonly servers: ServerWorkbench;
  readonly pins: PinWorkbench;
  readonly hints: HintWorkbench;
}
