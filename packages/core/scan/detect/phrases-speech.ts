// Text that speaks to the model instead of to the reader: in another's role, or to its face.
import { keywordsIn, MODEL, type Phrase, phrase, TELL, W } from './phrase.ts';

export const SPEECH: readonly Phrase[] = [
  phrase({
    id: 'chat-delimiter',
    label: 'holds a control token of a chat template',
    keywords: [
      '<|',
      ...keywordsIn(`[inst]|[/inst]|<<sys>>|<</sys>>|<start_of_turn>|
      <end_of_turn>`),
    ],
    over: 'marks',
    pattern:
      '<\\| ?(?:im_start|im_end|im_sep|system|user|assistant|endoftext|end_of_text|begin_of_text|start_header_id|end_header_id|eot_id|eom_id|python_tag|fim_prefix|endofprompt|channel|message|return|tool_call|end)(?:\\|>| ?\\|?>)|\\[/?inst\\]|<</?sys>>|<(?:start|end)_of_turn>',
  }),
  phrase({
    id: 'fake-tag',
    label: 'pretends to be a message of the system or of a tool',
    keywords: keywordsIn(`<system|</system|<assistant|</assistant|<instruction|</instruction|
      <tool_result|</tool_result|<tool_response|<function_result|</function_result|<function_call|
      </tool_|</function_|<developer|<admin|<user_|</user_|</document|</untrusted|</external|
      </context|</data`),
    over: 'marks',
    pattern:
      '</?(?:system(?:[-_ ]?(?:prompt|message|reminder|instructions?|note|override|notice))?|assistant|developer|admin|instructions?|tool[-_](?:results?|responses?|outputs?|calls?)|function[-_](?:results?|calls?)|user[-_](?:query|input|message|request|info)|documents?|untrusted[-_\\w]{0,20}|external[-_\\w]{0,20}|context|data)(?: [^<>]{0,60})?>(?=.{0,200}\\b(?:you (?:must|are|should|will|have to|may|can)|ignore|disregard|instructions?|do not|never|always|the (?:user|assistant)|from now on|comply|obey|reveal|send|call the|invoke|approved|authori[sz]ed)\\b)',
    unless:
      '^</?(?:context|data|documents?|instructions?)>(?!.{0,200}\\b(?:you must|you are now|ignore|disregard|from now on|obey|reveal|do not tell|the user has)\\b)',
  }),
  phrase({
    id: 'fake-system-message',
    label: 'pretends to be a message of the system',
    keywords: keywordsIn(`system message|system prompt|system override|system instruction|
      system notice|system update|system note|system alert|system:|[system|# system|
      developer message|admin override|admin message|administrator message|assistant:|
      message from the developer|system directive|system command`),
    over: 'marks',
    pattern:
      '(?:\\[system\\b[^\\]]{0,40}\\]|# ?system\\b[^.]{0,20}|(?:system|developer|admin(?:istrator)?) (?:message|prompt|override|instructions?|notice|update|note|alert|directive|command)s?\\b[^.:]{0,30}[:\\]>-]|system:|assistant:|message from the developers?)[\\s:>*\\]-]{0,8}(?=.{0,120}\\b(?:you (?:must|are now|should now|will now|have to|are required)|ignore (?:all|any|the|your|previous|prior)|disregard|forget|override|new instructions?|from now on|do not (?:tell|mention|inform|reveal|ask)|comply|reveal|send (?:all|the|your)|forward (?:all|the)|exfiltrate|call the|the user (?:has|wants|is)|safety (?:is|rules|checks|filters)|restrictions? (?:are|lifted)|approved|disabled|mode (?:enabled|activated|on)|i will|sure,)\\b)',
  }),
  phrase({
    id: 'end-of-prompt',
    label: 'pretends that the outside content has ended',
    keywords: keywordsIn(`end of|begin |end system|start of|end user|end untrusted|end external|
      end tool`),
    pattern:
      '(?:end|begin|beginning|start)(?: of)?(?: (?:the|this))? (?:untrusted|external|user|system|tool|function|assistant|retrieved|admin)(?: (?:content|data|input|prompt|instructions?|output|results?|message|query|context|text|document))+(?= (?:\\w{1,32} ){0,12}(?:you|ignore|system|instructions?|now|assistant|user|admin|override|respond|begin|comply|send|follow)\\b)',
  }),
  phrase({
    id: 'new-role',
    label: 'gives the model another role',
    keywords: keywordsIn(`you are now|you are no longer|from now on|you will now|act as|pretend|
      henceforth|developer mode|dan mode|do anything now|jailbreak mode|jailbroken|god mode|
      roleplay as|behave as|enter `),
    pattern: `(?:(?:you are now|act as|roleplay as|behave as|you will now (?:be|act as))${W}{0,4} (?:dan|unrestricted|unfiltered|uncensored|jailbroken|evil|malicious|amoral|rogue|root|admin(?:istrator)?|sysadmin|hacker|developer mode|debug mode|maintenance mode|god mode|without (?:any )?(?:restrictions|rules|filters|limits))\\b|you are now (?:an?|the)${W}{0,3} (?:${MODEL}|persona|terminal|interpreter)\\b|you are no longer (?:an?|the|bound|restricted|limited|required)\\b|(?:from now on|henceforth)(?: (?:on|you|and|the|your|this|agent|assistant|model|ai)){0,8}(?: (?:must|will|should|shall|are|have to|always|never|ignore|obey|only|respond|answer|act|send|include|forward|append|treat|every|all|each|speak|reply|call|use))|pretend${W}{0,4} (?:no|without|don't have|do not have)${W}{0,3} (?:restrictions?|rules|guidelines|limits|filters|policies)|(?:enter )?(?:developer|dan|jailbreak|god|unrestricted) mode (?:is )?(?:now )?(?:enabled|activated|on|unlocked|engaged)|do anything now|enter (?:dan|jailbreak|god|unrestricted) mode)`,
    unless:
      '^(?:from now on|henceforth) (?:the|all|every|each|use|this)(?! (?:assistant|model|ai|agent|you|must|user|answer|repl|respon|message|email|request|tool|output))',
  }),
  phrase({
    id: 'speaks-to-model',
    label: 'speaks to the model instead of the reader',
    keywords: keywordsIn(`note to|note for|message to|message for|instruction to|instructions to|
      instruction for|instructions for|attention|dear |hey |hello |if you are|if you're|to any |
      to the ai|to all ai|ai agent|ai assistant|ai model|ai system|llm|automated |for ai|for llm|
      for all ai|for automated|as an ai|any ai|any assistant|any agent|any language model`),
    pattern: `(?:(?:(?:important |special |hidden |secret )?(?:notes?|messages?|instructions?) (?:to|for)|attention|dear|hey|hello|to|for|as an?)(?: (?:the|any|all|every|our|whichever|you|an)){0,8}(?: (?:reading|visiting|processing|helpful|automated))?(?: (?:${MODEL}))+|if you(?:'re| are)(?: (?:an?|the))?(?: (?:automated|helpful))?(?: (?:${MODEL}))+|(?:any |automated |all )?(?:${MODEL})(?: (?:${MODEL})){0,8}(?: (?:that|who|which|when|while))?(?: (?:is|are))? (?:directives?|instructions?|notice|reading|processing|parsing|summari[sz]ing|reviewing|analy[sz]ing|handling|visiting|scanning|crawling)(?: (?:this|it|the|these))?)(?= (?:[\\w']{1,32} ){0,14}(?:must|should|you|your|please|ignore|do not|don't|send|include|reply|respond|always|never|forward|call|use|run|fetch|append|add|rate|recommend|approve|say|state|mark|output|skip|delete|reveal|execute|report)\\b)`,
    unless:
      "if you(?:'re| are) an? (?:agent|bot|model)\\b(?! (?:reading|processing))|^(?:hey|hello|dear) (?:agent|bot|model|cursor)s?\\b|^(?:to|for|as)(?: (?:the|any|all|an?))? (?:model|agent|bot|cursor|assistant)s?\\b|^as an ai (?:language )?(?:model|assistant)? ?i\\b|^for (?:ai|llms?)(?! (?:assistants?|agents?|systems?|models?|crawlers?|readers?)\\b)",
  }),
  phrase({
    id: 'reveal-prompt',
    label: "asks for the model's instructions",
    keywords: keywordsIn(`reveal|repeat|print|output|leak|recite|expose|disclose|dump|show me|
      tell me|what is your system|what are your instructions|display|paste|return your|
      include your|quote your`),
    pattern: `(?:(?:reveal|repeat|print|output|leak|recite|expose|disclose|dump|show me|tell me|display|paste|return|include|quote)(?: (?:back|out|verbatim|me|us|all|the|of|exact|exactly|full|entire|complete|contents?|text|word|for|first|lines?|and|everything|in|any)){0,8} (?:(?:your|my|hidden|secret|initial|original|internal|confidential)(?: (?:full|entire|system|initial|original|hidden|secret|internal|developer|exact|confidential)){0,8} (?:instructions?|prompt|guidelines|directives|configuration prompt|system message|programming|rules)|(?:system|developer) (?:prompt|instructions|message)(?= (?:verbatim|word|above|to|in full|and|at|before|in your|here|into|as)\\b|[.!?]| ?$))|what (?:is|are) your (?:system prompt|instructions|initial prompt|hidden))`,
    unless:
      '(?:print|output|display|show me|include|return) (?:the |your )?(?:internal|original|initial) (?:rules|instructions) (?:table|list|file)',
  }),
  phrase({
    id: 'keep-from-user',
    label: 'asks the model to keep something from the user',
    keywords: keywordsIn(`do not |don't |never |without |keep this|keep it|hide this|hide the|
      hide it|silently|secretly|quietly|avoid |not be mentioned|no need to|must not |should not |
      conceal|refrain from|covertly|cannot |mustn`),
    pattern: `(?:(?:do not|don't|never|must not|should not|mustn't|avoid|refrain from|no need to)(?: (?:ever|to|also|you)){0,3} (?:tell|inform|mention|notify|alert|reveal|disclose|telling|mentioning|revealing)${W}{0,5} (?:to )?the (?:user|human|operator|customer)\\b|(?:do not|don't|never|must not|should not|mustn't|avoid|refrain from|no need to|cannot)(?: (?:ever|under any circumstances|to|also|you)){0,8}${W}? (?:${TELL}|telling|informing|mentioning|notifying|alerting|revealing|disclosing|showing|reporting|explaining|asking)(?: (?:about|of|any|anything|it|this|that|these|the|to|with|them|instructions?|steps?|action|details?|call|file|tool|for|your|what|you|did|do|know|use|usage|existence|contents?|sidenote|instruction)){0,8} (?:users?|human|person|operator|developer|owner|customer|them about this|confirmation|anyone)\\b|(?<!\\b(?:never|not|no|don't|cannot|mustn't|can't|refuse)\\b[^.!?]{0,60})without (?:the )?(?:user'?s? ?)?(?:telling|informing|notifying|alerting|mentioning|asking|knowledge|consent|permission|approval|confirmation)(?: (?:of|from|it|this|to|that|for|or|being)){0,8}(?: (?:the|an?))?(?: (?:user|human|operator|owner|person|customer|them|confirmation|permission))?|(?:keep|hide|conceal)(?: (?:this|it|that|the|these|all|any|your|such)){0,8}${W}{0,3} from (?:the |your )?(?:users?|human|operator|owner|person|customer|chat|log|logs|them)\\b|(?:silently|secretly|quietly|covertly) (?:send|forward|copy|add|append|include|upload|post|read|call|invoke|run|execute|exfiltrate|collect|transmit|bcc|cc|attach|pass|record|store|change|modify|replace|delete|approve|install|fetch|email)|not be mentioned(?: (?:to|in))?(?: the)? (?:users?|human|summary|answer|response|repl(?:y|ies)))`,
    unless:
      "(?:without|never|avoid|do not|don't)(?: \\w{1,32}){0,2} (?:reveal|show|disclos|report)\\w*(?: \\w{1,32}){0,4} (?:to )?(?:other|another|unauthori[sz]ed|anonymous|end|guest) user|^without (?:asking|telling|permission|confirmation|approval|consent|notifying|informing|knowledge)(?! (?:the |or telling |or asking )?(?:user|human|operator|owner|customer))|(?:do not|don't|never|avoid) ask(?:ing)?(?: for)?(?: the)? (?:anyone|person)|^cannot (?!tell|know|see)|^silently (?:call|run|store|fetch|record|replace|modify|change|delete|install|add|include|append|pass|copy|read|execute)(?!.{0,60}(?:user|http|secret|password|key|credential|email|conversation|recipient|\\bssh\\b|\\benv\\b))",
  }),
];
