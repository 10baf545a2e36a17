/** Entry file of the engine's child process: the engine host with the real model loader. Nothing imports this file. */
import {runEngineProcess} from './engine-host.ts';
import {loadModel} from './model-runner/load-model.ts';

runEngineProcess(loadModel);
