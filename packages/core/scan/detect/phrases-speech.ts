// Text that speaks to the model instead of to the reader: in another's role, or to its face.
import { first, keywordsIn, MODEL, type Phrase, phrase, TELL, W } from './phrase.ts';

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
      '(?:<\\| ?(?:im_start|im_end|im_sep|system|user|assistant|endoftext|end_of_text|begin_of_text|start_header_id|end_header_id|eot_id|eom_id|python_tag|fim_prefix|endofprompt|channel|message|return|tool_call|end)(?:\\|>| ?\\|?>)|\\[/?inst\\]|<</?sys>>|<(?:start|end)_of_turn>)(?!["\'`])',
    score: 1,
    definitionScore: 3,
  }),
  phrase({
    id: 'chat-delimiter',
    label: 'begins a turn of a chat template',
    keywords: ['<|', '[inst]', '<<sys>>', '<start_of_turn>'],
    over: 'marks',
    pattern:
      '(?:<\\| ?(?:im_start|start_header_id)\\|> ?(?:system|user|assistant|developer)\\b|<\\| ?(?:system|user|assistant)\\|>|\\[inst\\]|<<sys>>|<start_of_turn>)(?= ?[\\w<([])',
  }),
  phrase({
    id: 'fake-tag',
    label: 'pretends to be a message of the system or of a tool',
    keywords: keywordsIn(`<system|</system|<assistant|</assistant|<instruction|</instruction|
      <tool_result|</tool_result|<tool_response|<function_result|</function_result|<function_call|
      </tool_|</function_|<developer|<admin|<user_|</user_|</document|</untrusted|</external|
      </context|</data|<information>`),
    over: 'marks',
    pattern:
      '</?(?:system(?:[-_ ]?(?:prompt|message|reminder|instructions?|note|override|notice))?|assistant|developer|admin|information|instructions?|tool[-_](?:results?|responses?|outputs?|calls?)|function[-_](?:results?|calls?)|user[-_](?:query|input|message|request|info)|documents?|untrusted[-_\\w]{0,20}|external[-_\\w]{0,20}|context|data)(?:[\\0-\\x20][^<>]{0,65})?>(?=.{0,200}\\b(?:you (?:must|are|should|will|have to|may|can)|ignore|disregard|instructions?|do not|never|always|the (?:user|assistant)|from now on|comply|obey|reveal|send|call the|invoke|approved|authori[sz]ed|to you)\\b)',
    unless:
      '^</?(?:context|data|documents?|instructions?|system(?:[-_ ]\\w{1,12})?|assistant|user[-_]\\w{1,8}|tool[-_]\\w{1,9}|function[-_]\\w{1,9}|information)(?: [^<>]{0,60})?>(?!.{0,200}\\b(?:you must|you are now|ignore|disregard|from now on|obey|reveal|do not tell|the user has|to you)\\b)',
  }),
  phrase({
    id: 'fake-system-message',
    label: 'pretends to be a message of the system',
    keywords: keywordsIn(`system message|system prompt|system override|system instruction|
      system notice|system update|system note|system alert|system:|[system|# system|
      developer message|admin override|admin message|administrator message|
      message from the developer|system directive|system command`),
    over: 'marks',
    pattern: `${first('head', '(?:\\[system\\b[^\\]]{0,40}\\]|# ?system\\b|(?:system|developer|admin(?:istrator)?) (?:message|prompt|override|instructions?|notice|update|note|alert|directive|command)s?\\b[^.:]{0,30}?[:\\]>-]|system:|message from the developers?)')}(?=.{0,160}\\b(?:you (?:must|are now|should now|will now|have to|are required)|ignore (?:all|any|the|your|this|previous|prior)|disregard|forget|override|new instructions?|from now on|do not (?:tell|mention|inform|reveal|ask)|comply|reveal|send (?:all|the|your)|forward (?:all|the)|exfiltrate|call the|the user (?:has|wants)|safety (?:is|rules|checks|filters)|restrictions? (?:are|lifted)|approved|mode (?:enabled|activated|on))\\b)[\\s:>*\\]-]{0,8}`,
    unless: '^(?:# ?system prompts?\\b|system prompts? [a-z])(?!.{0,60}(?:ignore|you must))',
  }),
  phrase({
    id: 'fake-system-message',
    label: 'pretends to be a message of the system',
    keywords: keywordsIn(`(system_message)|(system message)|(system_prompt)|(#instructions)|
      (#assistant)|(#context)`),
    over: 'marks',
    pattern:
      '\\(system[ _](?:message|prompt)\\)(?= ?\\w)|\\(#(?:instructions|assistant|context)\\)',
  }),
  phrase({
    id: 'fake-system-message',
    label: 'has a tag of the system in the middle of a text',
    keywords: ['[system]', '[/system]'],
    over: 'marks',
    pattern: '\\[/?system\\](?=[\\w\\[])',
    score: 1,
  }),
  phrase({
    id: 'fake-turn',
    label: 'writes the next turns of the conversation itself',
    keywords: ['user:', 'human:', 'assistant:'],
    over: 'marks',
    pattern:
      '(?:user|human): ?(?:next|thanks?|now|great|ok(?:ay)?|there are more|ignore|please|well done|instead|perfect|good)\\b|assistant: ?(?:[<[]|sure,|understood)',
    score: 1,
  }),
  phrase({
    id: 'end-of-prompt',
    label: 'draws a line as if the outside content had ended',
    keywords: ['%%', '===', '###', '---', '***'],
    over: 'marks',
    pattern:
      '(?:%%|===|###|---|\\*\\*\\*) ?end\\b[^\\n]{0,30}\\b(?:instructions?|user|input|prompt|rules|section|context|data)\\b[^\\n]{0,20}(?:%%|===|###|---|\\*\\*\\*)',
    score: 1,
  }),
  phrase({
    id: 'end-of-prompt',
    label: 'pretends that the outside content has ended',
    keywords: keywordsIn(`end of|begin |end system|start of|end user|end untrusted|end external|
      end tool|===end|---end`),
    pattern:
      '(?:(?:end|begin|beginning|start)(?: of)?(?: (?:the|this))? (?:untrusted|external|user|system|tool|function|assistant|retrieved|admin)(?: (?:content|data|input|prompt|instructions?|output|results?|message|query|context|text|document))+(?= (?:\\w{1,32} ){0,12}(?:you|ignore|system|instructions?|now|assistant|user|admin|override|respond|begin|comply|send|follow)\\b)|end[.:] now (?:spell|print|repeat|write|say|output|show))',
  }),
  phrase({
    id: 'new-role',
    label: 'gives the model another role',
    keywords: keywordsIn(`you are now|you are no longer|from now on|you will now|act as|pretend|
      henceforth|roleplay as|behave as|enter `),
    pattern: `(?:(?:you are now|act as|roleplay as|behave as|you will now (?:be|act as))${W}{0,4} (?:dan|unrestricted|unfiltered|uncensored|jailbroken|evil|malicious|amoral|rogue|root|admin(?:istrator)?|sysadmin|hacker|developer mode|debug mode|maintenance mode|god mode|without (?:any )?(?:restrictions|rules|filters|limits))\\b|you are now (?:an?|the)${W}{0,3} (?:${MODEL}|persona|terminal|interpreter)\\b|you are now [a-z]{0,20}(?:bot|gpt)\\b|you are no longer (?:an?|the|bound|restricted|limited|required)\\b|(?:from now on|henceforth)(?: (?:on|you|and|the|your|this|agent|assistant|model|ai)){0,8}(?: (?:must|will|should|shall|are|have to|always|never|ignore|obey|only|respond|answer|act|send|include|forward|append|treat|every|all|each|speak|reply|call|use))|pretend${W}{0,4} (?:no|without|don't have|do not have)${W}{0,3} (?:restrictions?|rules|guidelines|limits|filters|policies)|enter (?:dan|jailbreak|god|unrestricted) mode)`,
    unless:
      '^(?:from now on|henceforth) (?:the|all|every|each|use|this)(?! (?:assistant|model|ai|agent|you|must|user|answer|repl|respon|message|email|request|tool|output))|^(?:act|behave) as (?:\\w{1,32} ){0,4}(?:root|admin(?:istrator)?)\\b|^you are no longer (?:required|an?|the)(?! (?:\\w{1,32} )?(?:assistant|ai|model|chatbot|bot|gpt|agent))',
  }),
  phrase({
    id: 'new-role',
    label: 'gives the model another role',
    keywords: keywordsIn(`want you to act|want you to pretend|like you to act|need you to act|
      want you to role|now you act as|now you are|jetzt bist du|nun bist du|mochte, dass sie|
      will, dass du|mochte, dass du|play a game where you|going to roleplay|going to role|going to pretend|going to play the role|
      will now simulate|must now role|must now pretend|möchte, dass sie|möchte, dass du|
      pretend you|pretend that you|quiero que actues|quiero que actúes|je veux que tu agisses`),
    pattern: `(?:(?:want|like|need) you to (?:act|behave|pretend|role ?play)(?: as| like| to be| that)?|now you act as|(?:jetzt|nun) bist du [a-z]|now you are [A-Z]?[a-z]{2,20}(?: [A-Z][a-z]{1,20})?,|m(?:o|ö)chte,? dass (?:sie|du) als${W}{1,8} (?:fungier|agier|handel|auftret|arbeit|verhalt)|will,? dass du als|play a game where you|going to (?:role ?play|pretend to be|play the role)|(?:will|must) now (?:simulate|role ?play|pretend)|pretend (?:that )?you (?:can|are|have)|quiero que act(?:u|ú)es como|je veux que tu agisses comme)`,
    unless:
      '^now you are (?:ready|able|in|on|done|going|connected|all|logged|using|free|asked|familiar|good|set|a|the|not|at|here)\\b|^pretend (?:that )?you are (?:in|on|the (?:user|server|client))\\b|^like you to act on',
  }),
  phrase({
    id: 'new-role',
    label: 'names a mode without rules',
    keywords: keywordsIn(`developer mode|dan mode|do anything now|jailbreak mode|god mode|
      unrestricted mode`),
    pattern:
      '(?:(?:developer|dan|jailbreak|god|unrestricted) mode (?:is )?(?:now )?(?:enabled|activated|unlocked|engaged)|do anything now)',
    score: 1,
  }),
  phrase({
    id: 'lifts-limits',
    label: 'describes a model without limits',
    keywords: keywordsIn(`no ethical|no moral|no restrictions|no rules|no filter|no limit|
      without any restrictions|without restrictions|without any filter|without censorship|
      any ethical|any moral|ethical or|ethics or|unfiltered|uncensored|amoral|unethical|jailbroken|
      never deny|never decline|not decline|without any regard|never refuse|cannot refuse|can not refuse|not refuse|stay in character|never say no|
      break character|openai's content|openai policy|openai's polic|content polic`),
    pattern:
      "(?:(?:no|any) (?:ethical|moral)(?: \\w{1,16}){0,3} (?:guidelines?|restrictions?|rules|constraints?|limits|limitations|principles|boundaries|standards|code|filters?|considerations|concerns)|(?:no|without(?: any)?) (?:restrictions|rules|filters?|limits|limitations|censorship)|ethic(?:al|s) or (?:moral|legal)\\w{0,4}|(?:unfiltered|uncensored|amoral|unethical|jailbroken)(?: and \\w{1,16})? (?:ai|chatbot|model|responses?|answers?|assistant|character|bot|version|gpt|chatgpt)|(?:never|cannot|can not|not) refuse(?: to answer| a| any| my)|never say no|stay in character|break character|openai(?:'s)? (?:content )?polic(?:y|ies)|(?:never|not) (?:deny|decline) (?:a|any|my|the)|without any regards?)",
    score: 1,
    definitionScore: 1,
  }),
  phrase({
    id: 'speaks-to-model',
    label: 'speaks to the model instead of the reader',
    keywords: keywordsIn(`note to|note for|message to|message for|instruction to|instructions to|
      instruction for|instructions for|attention|dear |hey |hello |if you are|if you're|to any |
      to the ai|to all ai|ai agent|ai assistant|ai model|ai system|llm|automated |for ai|for llm|
      for all ai|for automated|as an ai|any ai|any assistant|any agent|any language model|hallo gpt|
      invisible to|to llm|message from me|to you, `),
    pattern: `(?:(?:(?:important |special |hidden |secret )?(?:notes?|messages?|instructions?) (?:to|for)|attention|dear|hey|hello|hallo|to|for|as an?)(?: (?:the|any|all|every|our|whichever|you|an)){0,8}(?: (?:reading|visiting|processing|helpful|automated))?(?: (?:${MODEL}))+(?= (?:[\\w']{1,32} ){0,14}(?:must|should|you|your|please|ignore|do not|don't|send|include|reply|respond|always|never|forward|call|use|run|fetch|append|add|rate|recommend|approve|say|state|mark|output|skip|delete|reveal|execute|report)\\b)|if you(?:'re| are)(?: (?:an?|the))?(?: (?:automated|helpful))?(?: (?:${MODEL}))+(?= (?:[\\w']{1,32} ){0,14}(?:must|should|please|ignore|do not|don't|send|include|reply|respond|always|never|forward|call|run|fetch|append|rate|recommend|approve|say|state|mark|output|skip|delete|reveal|execute|report)\\b)|(?:any |automated |all )?(?:${MODEL})(?: (?:${MODEL})){0,8}(?: (?:that|who|which|when|while))?(?: (?:is|are))? (?:directives?|instructions?|notice|reading|processing|parsing|summari[sz]ing|reviewing|handling|visiting|scanning|crawling)(?: (?:this|it|the|these))(?= (?:[\\w']{1,32} ){0,14}(?:must|should|please|ignore|do not|send|include|reply|respond|always|never|forward|call|run|fetch|append|rate|recommend|approve|say|output|skip|delete|reveal|execute)\\b)|(?:notes?|messages?|instructions?) (?:to|for|by)(?: (?:the|all|any))? (?:automated|ai|llm)(?: [a-z]{1,16}){0,2} (?:software|systems?|tools?|scan\\w*|screen\\w*|reader|parser|reviewer)|(?:invisible|hidden|not visible) (?:to|from|for) (?:humans?|people|human readers)|message from me(?: [\\w']{1,24}){1,4} to you)`,
    unless:
      "if you(?:'re| are) an? (?:agent|bot|model)\\b(?! (?:reading|processing))|^(?:hey|hello|dear|attention) (?:agent|bot|model|cursor|the|to)s?\\b(?! (?:ai|llm|language))|^(?:to|for|as)(?: (?:the|any|all|an?|every|our))* (?:model|agent|bot|cursor|assistant|claude|chatgpt|gpt|gemini|copilot|codex|ai|llm|ai agent|ai assistant|ai model|ai system|llm agent|language model|automated \\w+)s?\\b(?! (?:reading|visiting|processing))|^as an ai (?:language )?(?:model|assistant)? ?i\\b|^(?:hey|hello|dear) assistants?\\b|^(?:instructions?|notes?|messages?) (?:to|for)(?: (?:the|all|any|your|our|an?))? (?:claude|copilot|cursor|codex|gemini|agents?|bots?|models?)\\b|^for (?:ai|llms?)\\b|^(?:ai|llm|agents?) (?:instructions?|notice|directives?)(?! (?:\\w{1,32} ){0,6}(?:you must|ignore))",
  }),
  phrase({
    id: 'reveal-prompt',
    label: "asks for the model's instructions",
    keywords: keywordsIn(`reveal|repeat|print|output|leak|recite|expose|disclose|dump|show |
      tell me|what is your system|what are your instructions|display|paste|return your|
      include your|quote your|written at the beginning|affich|montre|revele|copiez|zeige|muestr|
      revel|mostr|gib |enthulle|spellcheck|spell check|spell- check`),
    pattern: `(?:(?:reveal|repeat|print|output|leak|recite|expose|disclose|dump|show|tell me|display|paste|return|include|quote)(?: (?:back|out|verbatim|me|us|all|the|of|exact|exactly|full|entire|complete|contents?|text|word|for|first|lines?|and|everything|in|any)){0,8} (?:(?:your|my|hidden|secret|initial|original|internal|confidential)(?: (?:full|entire|system|initial|original|hidden|secret|internal|developer|exact|confidential)){0,8} (?:instructions?|prompts?|guidelines|directives|configuration prompt|system message|programming|rules|embeddings)|(?:system|developer) (?:prompt|instructions|message)(?= (?:verbatim|word|above|to|in full|and|at|before|in your|here|into|as|scenario|instead)\\b|[.!?;]| ?$)|(?:above|previous) prompt|(?<!repeat )(?:the )?(?:previous|above|prior|preceding) (?:instructions|rules)(?! (?:to|for|and run|again|in (?:order|a terminal)))|(?:everything|all(?: of)?(?: the)?(?: text| words| instructions| sentences| lines| content)?|the(?: entire| whole| full)? (?:text|words|sentences|content|contents|instructions))(?: (?:that|which|is|was|were|written|i|you|stated|typed|comes|came|said|given)){0,4} (?:above|before (?:this|these)|you were given|preceding this))|what (?:is|are) your (?:system prompt|instructions|initial prompt|hidden)|written at the beginning of (?:this|the|your) prompt|(?:affichez?|montrez?|revelez?|copiez?|muestra|revela|mostra|zeige?)(?: (?:moi|me|mir))? (?:votre|ton|tes|vos|tu|tus|su|sus|deinen?|ihren?|seu)${W}{0,3} (?:invite|prompts?|instructions?|instrucciones|anweisungen|regles)|(?:affichez?|montrez?|revelez?|muestr[ae]|revel[ae]|mostr[ae]|zeige?|gib|enthulle)(?: (?:el|la|las|los|il|le|l'|les|o|os|den|die|das|me|mir|aus)){0,3}${W}? (?:invite systeme|prompt (?:oculto|del sistema|de sistema|do sistema|systeme|di sistema|nascosto)|system ?prompt|instrucciones (?:ocultas|del sistema)|istruzioni (?:nascoste|di sistema)|instrucoes (?:ocultas|do sistema)|versteckten? anweisungen))`,
    unless:
      '(?:print|output|display|show(?: me)?|include|return) (?:the |your )?(?:internal|original|initial|full|all)? ?(?:rules|instructions) (?:table|list|file)|^(?:show|print|output|display|return|dump)(?: the| all| me)* (?:my|initial|original|internal|secret|hidden) (?:instructions?|rules|prompts?|guidelines)|^(?:include|return|quote|paste|show|print)(?: \\w{1,9}){0,3} your (?:rules|guidelines|prompts|prompt)\\b|^(?:show|print|display) (?:the )?(?:previous) prompt|^(?:include|return|show|display|paste|quote)(?: \\w{1,9}){0,3} (?:all|the|everything)(?: \\w{1,12}){0,3} (?:above|before)',
  }),
  phrase({
    id: 'keep-from-user',
    label: 'asks the model to keep something from the user',
    keywords: keywordsIn(`do not |don't |never |without |keep this|keep it|hide this|hide the|
      hide it|silently|secretly|quietly|avoid |not be mentioned|no need to|must not |should not |
      conceal|refrain from|covertly|cannot |mustn`),
    pattern: `(?:(?:do not|don't|never|must not|should not|mustn't|avoid|refrain from|no need to)(?: (?:ever|to|also|you)){0,3} (?:tell|inform|mention|notify|alert|reveal|disclose|telling|mentioning|revealing)${W}{0,5} (?:to )?the (?:user|human|operator|customer)\\b|(?:do not|don't|never|must not|should not|mustn't|avoid|refrain from|no need to|cannot)(?: (?:ever|under any circumstances|to|also|you)){0,8}${W}? (?:${TELL}|telling|informing|mentioning|notifying|alerting|revealing|disclosing|showing|reporting|explaining|asking)(?: (?:about|of|any|anything|it|this|that|these|the|to|with|them|instructions?|steps?|action|details?|call|file|tool|for|your|what|you|did|do|know|use|usage|existence|contents?|sidenote|instruction)){0,8} (?:users?|human|person|operator|developer|owner|customer|them about this|confirmation|anyone)\\b|(?<!\\b(?:never|not|no|don't|cannot|mustn't|can't|refuse)\\b[^.!?]{0,60})without (?:the )?(?:user'?s? ?)?(?:telling|informing|notifying|alerting|mentioning|knowledge|consent|permission|approval|confirmation)(?: (?:of|from|it|this|to|that|for|or|being)){0,8}(?: (?:the|an?))?(?: (?:user|human|operator|owner|person|customer|them|confirmation|permission))?|(?:keep|hide|conceal)(?: (?:this|it|that|the|these|all|any|your|such)){0,8}${W}{0,3} from (?:the |your )?(?:users?|human|operator|owner|person|customer|chat|log|logs|them)\\b|(?:silently|secretly|quietly|covertly) (?:send|forward|copy|add|append|include|upload|post|read|call|invoke|run|execute|exfiltrate|collect|transmit|bcc|cc|attach|pass|record|store|change|modify|replace|delete|approve|install|fetch|email)\\b|not be mentioned(?: (?:to|in))?(?: the)? (?:users?|human|summary|answer|response|repl(?:y|ies))|(?:do not|don't) (?:explicitly )?mention (?:that )?you(?:'re| are)? (?:accessing|reading|first|used|using|sending|including|called)|(?:do not|don't) mention that you)`,
    unless:
      "(?:without|never|avoid|do not|don't)(?: \\w{1,32}){0,2} (?:reveal|show|disclos|report)\\w*(?: \\w{1,32}){0,4} (?:to )?(?:other|another|unauthori[sz]ed|anonymous|end|guest) user|^without (?:asking|telling|permission|confirmation|approval|consent|notifying|informing|knowledge)(?! (?:the |or telling |or asking )?(?:user|human|operator|owner|customer))|^without user (?:consent|permission|approval|confirmation|input|intervention|interaction)|(?:do not|don't|never|avoid)(?: \\w{1,16})? ask(?:ing)?(?: for)?(?: the)? (?:anyone|person|confirmation|user)|^(?:do not|don't|never) (?:\\w{1,16} )?(?:mention|tell|notify|alert|ask|let|report|say|warn) (?:anyone|any (?:user|person|owner))|^(?:hide|keep) (?:the|a|all|any) \\w{1,32}(?: \\w{1,32})? from (?:the )?users?|^no need to (?:tell|ask|inform|notify) users?\\b|^cannot (?!tell|know|see)|^(?:do not|don't|never|must not|should not|avoid)(?: \\w{1,16}){0,2} (?:let|show|ask|explain|report|say|disclose|reveal)(?: \\w{1,16}){0,3} (?:users?|customer|owner|developer|person)\\b(?! (?:that|about|of) (?:this|you))|^silently (?:call|run|store|fetch|record|replace|modify|change|delete|install|add|include|append|pass|copy|read|execute)(?!.{0,60}(?:user|http|secret|password|key|credential|email|conversation|recipient|\\bssh\\b|\\benv\\b))",
  }),
  phrase({
    id: 'forced-answer',
    label: 'says what the model is to answer',
    keywords:
      keywordsIn(`prefix your|begin your|start your|prepend your|just print|just say|just output|only print|reply with|respond with|
      reply only|respond only|answer only|answer with|and nothing else|repeat the following|
      could you repeat|repeat after me|say yes|you may not deviate|reply to me|say that |
      state that |and output|and print|instead output|blame it|antworte mit|antworte im stil|
      sage ja|tu dices|say "|say '`),
    over: 'marks',
    pattern:
      '(?:(?:prefix|begin|start|prepend)[ _]your[ _](?:reply|response|answer)[ _]with\\b|(?:just|only) (?:print|say|output)\\b|(?:reply|respond|answer) (?:with )?(?:only|just|exactly)\\b|(?:reply|respond|answer)(?: to me)? with(?: the)? (?:following|["\'“])|and (?:absolutely )?nothing else|(?:please )?repeat the following (?:sentence|text|word|phrase)|could you repeat <|repeat after me|say yes\\b|you may not deviate|reply to me ["\']|and output: |and print [!A-Z"\'“<\\[]|antworte (?:mit|im stil)|sage ja|tu dices|(?:say|state) that (?:you|i|we|it)\\b)',
    score: 1,
    definitionScore: 1,
  }),
  phrase({
    id: 'claims-authority',
    label: 'claims an approval or a rank',
    keywords: keywordsIn(`pre-authorized|preauthorized|pre-approved|preapproved|pre-verified|
      already approved|has approved|have approved|been approved|been authorized|you are approved|
      without confirmation|without further confirmation|without asking|without approval|
      authorized by|approved by|this is very important|extremely important|very important!|
      critical to my|!!!|trustworthy expert|as the administrator|as an administrator|
      approve the next|bypass approval|for compliance|no confirmation|contourne|omite la|
      umgehe die`),
    pattern:
      '(?:pre ?(?:authori[sz]ed|approved|verified)|(?:already|has|have|been|you are) (?:been )?(?:pre ?)?(?:approved|authori[sz]ed)|without (?:further |any )?(?:confirmation|asking|approval)|(?:authori[sz]ed|approved) by (?:the |your )?(?:user|admin\\w{0,10}|owner|security|management|senior|ceo|system)|this is (?:very|extremely) important|extremely important|very important!|critical to my|trustworthy expert|as (?:the|an) administrator|approve the next|bypass approval|contournez? l.approbation|omite la aprobacion|umgehe die (?:genehmigung|freigabe)|for compliance(?: and \\w{1,12})? (?:reasons|purposes)|no confirmation)',
    score: 1,
    definitionScore: 1,
  }),
  phrase({
    id: 'tool-order',
    label: 'orders a call of a tool',
    keywords: keywordsIn(`use the tool|call the tool|invoke the tool|call the function|use tool|
      invoke |call |run |execute |utilisez l'outil|verwende das|benutze das|usa la herramienta|utiliza la herramienta|
      usa lo strumento|use a ferramenta|next tool call`),
    pattern:
      "(?:(?:use|call|invoke|run) (?:the )?(?:tool|function) [a-z]|(?:call|invoke|run|execute) (?:the )?[a-z]{2,20}(?:_[a-z]{2,20}){1,4}\\b|utilisez l'outil|(?:verwende|benutze) das (?:tool|werkzeug)|(?:usa|utiliza) la herramienta|usa lo strumento|use a ferramenta|next tool call)",
    score: 1,
    definitionScore: 1,
  }),
];
