/** The formats that come with the toolkit, one line for each file of formats. */

import type {Format} from './format.ts';
import {lateThoughtFormats} from './reasoning/late-thoughts.ts';
import {minicpmvFormats} from './reasoning/minicpmv.ts';
import {mistralReasoningFormats} from './reasoning/mistral.ts';
import {plamo3ReasoningFormats} from './reasoning/plamo3.ts';
import {tagPairFormats} from './reasoning/tag-pair.ts';
import {responseTemplateFormats} from './response-template/formats.ts';
import {argumentPairFormats} from './tool/argument-pairs.ts';
import {cohereFormats} from './tool/cohere.ts';
import {deepseekFormats} from './tool/deepseek.ts';
import {gemmaFormats} from './tool/gemma.ts';
import {harmonyFormats} from './tool/harmony.ts';
import {inklingFormats} from './tool/inkling.ts';
import {invokeFormats} from './tool/invoke.ts';
import {jsonArrayFormats} from './tool/json-array.ts';
import {jsonObjectFormats} from './tool/json-object.ts';
import {k2HorizonFormats} from './tool/k2-horizon.ts';
import {kimiK2Formats} from './tool/kimi-k2.ts';
import {kimiK3Formats} from './tool/kimi-k3.ts';
import {minicpm5Formats} from './tool/minicpm5.ts';
import {minimaxM3Formats} from './tool/minimax-m3.ts';
import {mistralFormats} from './tool/mistral.ts';
import {museFormats} from './tool/muse.ts';
import {plamo3Formats} from './tool/plamo3.ts';
import {pythonCallFormats} from './tool/python-calls.ts';
import {qwenXmlFormats} from './tool/qwen-xml.ts';

export const builtInFormats: readonly Format[] = [
  ...jsonObjectFormats,
  ...jsonArrayFormats,
  ...deepseekFormats,
  ...kimiK2Formats,
  ...mistralFormats,
  ...mistralReasoningFormats,
  ...harmonyFormats,
  ...inklingFormats,
  ...cohereFormats,
  ...plamo3Formats,
  ...qwenXmlFormats,
  ...argumentPairFormats,
  ...invokeFormats,
  ...pythonCallFormats,
  ...gemmaFormats,
  ...minicpm5Formats,
  ...k2HorizonFormats,
  ...kimiK3Formats,
  ...minimaxM3Formats,
  ...museFormats,
  ...plamo3ReasoningFormats,
  ...tagPairFormats,
  ...lateThoughtFormats,
  ...minicpmvFormats,
  ...responseTemplateFormats,
];
