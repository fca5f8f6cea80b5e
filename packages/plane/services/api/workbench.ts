// What the API needs of the commands of `sub`: the daemon gets it from the program that starts it,
// and loads it only when somebody asks.
import type {
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

/** One member for each group of endpoints. */
export interface Workbench {
  readonly policy: PolicyWorkbench;
}
