/**
 * Thoughts between two tags, the most common form: one row for each format says where an answer begins, which switch
 * turns thinking off, and which call marker ends a thought that was not closed.
 */

import type {MachineDefinition, ReasoningFormat, TextMode, Transition} from '../format.ts';
import type {ParserContext} from '../output-parser.ts';
import {KIMI_SECTION} from '../tool/kimi-k2.ts';
import {promptState, type ThoughtMarkers} from './prompt-state.ts';
import {
  alwaysOn,
  enableThinking,
  reasoningEffort,
  type ThinkingSwitch,
  thinkingOnRequest,
  thinkingOrEffort,
  thinkingOrEnable,
} from './thinking-switch.ts';

interface TagPair {
  names: ReasoningFormat['names'];
  /** Default: `<think>` and `</think>`. */
  tags?: ThoughtMarkers;
  /** Default: always on. */
  isOn?: ThinkingSwitch;
  /** The mode when neither switch nor prompt decides; default `reasoning`. */
  begins?: 'reasoning' | 'content';
  /** Markers of calls that end an open thought. */
  implicitEnds?: readonly string[];
  /** Blanks at the end of a thought are dropped. */
  trimsEnd?: boolean;
  leavesForbiddenCalls?: boolean;
  /** How the answer is read. */
  answer?: Partial<TextMode>;
  /** With `force_nonempty_content` an answer that is all thought is content, too. */
  mayRepeatThought?: boolean;
  /** A thought may begin later in the answer, too. */
  opensLater?: boolean;
  /** The tags are ordinary text. */
  isText?: boolean;
}

const THINK: ThoughtMarkers = {open: '<think>', close: '</think>'};
const QWEN_CALL = ['<tool_call>'];
const DSML_CALLS = [
  '<｜DSML｜function_calls>',
  '<｜DSML｜tool_calls>',
  '<｜DSML｜toolcalls>',
  '<｜DSML｜tool>',
  '<｜DSML｜ calls>',
];
/** A response in tags of its own is unwrapped. */
const UNWRAPPED: Partial<TextMode> = {on: {'<response>': {}, '</response>': {}}, trimStart: true, trimEnd: true};

const tagPairs: readonly TagPair[] = [
  {names: ['qwen3'], isOn: enableThinking, implicitEnds: QWEN_CALL},
  {names: ['deepseek_r1'], leavesForbiddenCalls: true},
  {names: ['step5'], leavesForbiddenCalls: true},
  {names: ['holo2'], leavesForbiddenCalls: true, isOn: thinkingOrEnable},
  {names: ['deepseek_v3'], leavesForbiddenCalls: true, isOn: thinkingOnRequest},
  {names: ['poolside_v1'], leavesForbiddenCalls: true, isOn: thinkingOnRequest},
  {names: ['step3'], leavesForbiddenCalls: true},
  {names: ['step3p5'], implicitEnds: QWEN_CALL, trimsEnd: true},
  {names: ['nemotron_v3'], isOn: enableThinking, implicitEnds: QWEN_CALL, trimsEnd: true, mayRepeatThought: true},
  {
    names: ['granite_thinking_parser'],
    mayRepeatThought: true,
    isOn: enableThinking,
    implicitEnds: QWEN_CALL,
    trimsEnd: true,
    answer: {trimStart: true},
  },
  {names: ['mimo'], isOn: enableThinking, implicitEnds: QWEN_CALL},
  {names: ['glm45', 'glm47', 'ling3'], isOn: thinkingOrEnable, implicitEnds: QWEN_CALL, trimsEnd: true},
  {names: ['kimi_k2'], isOn: thinkingOrEnable, implicitEnds: [KIMI_SECTION], trimsEnd: true},
  {
    names: ['deepseek_v4', 'deepseek_v41'],
    isOn: thinkingOrEffort,
    implicitEnds: DSML_CALLS,
    trimsEnd: true,
    opensLater: true,
  },
  {names: ['minimax_m2'], implicitEnds: ['<minimax:tool_call>'], trimsEnd: true},
  {
    names: ['seed_oss'],
    tags: {open: '<seed:think>', close: '</seed:think>'},
    isOn: enableThinking,
    implicitEnds: ['<seed:tool_call>'],
  },
  {names: ['ernie45'], leavesForbiddenCalls: true, answer: UNWRAPPED},
  {names: ['hy_v3'], leavesForbiddenCalls: true, isOn: reasoningEffort('no_think')},
  {names: ['hy_v4'], leavesForbiddenCalls: true, isOn: reasoningEffort('high')},
  {names: ['olmo3'], leavesForbiddenCalls: true, isText: true},
];

function tagPairMachine(pair: TagPair, context: ParserContext): MachineDefinition {
  const tags = pair.tags ?? THINK;
  const implicit = (pair.implicitEnds ?? []).map((marker): [string, Transition] => [
    marker,
    {to: 'content', marker: 'reread'},
  ]);
  const later: TextMode['on'] = pair.opensLater ? {[tags.open]: {to: 'reasoning'}} : {};
  const forcesContent = context.chatTemplateKwargs.force_nonempty_content === true;
  return {
    start: startMode(pair, tags, context),
    repeatsLoneThought: pair.mayRepeatThought === true && forcesContent,
    modes: {
      reasoning: {
        kind: 'text',
        as: 'reasoning',
        trimEnd: pair.trimsEnd === true,
        on: {[tags.open]: {}, [tags.close]: {to: 'content'}, ...Object.fromEntries(implicit)},
      },
      content: {kind: 'text', as: 'content', on: later, ...pair.answer},
    },
  };
}

function startMode(pair: TagPair, tags: ThoughtMarkers, context: ParserContext): string {
  if (!(pair.isOn ?? alwaysOn)(context.chatTemplateKwargs)) return 'content';
  return promptState(context.promptTail, tags) ?? pair.begins ?? 'reasoning';
}

const tokensOf = ({tags = THINK}: TagPair): readonly string[] => [tags.open, tags.close];

export const tagPairFormats: readonly ReasoningFormat[] = tagPairs.map((pair) => ({
  kind: 'reasoning',
  names: pair.names,
  keepsSpecialTokens: 'always',
  expectedTokens: pair.isText === true ? [] : tokensOf(pair),
  leavesForbiddenCalls: pair.leavesForbiddenCalls === true,
  machine: (context) => tagPairMachine(pair, context),
}));
