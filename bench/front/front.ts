/** The server under test, in a process of its own, so that its processor time is its own. Tells it when asked. */
import {deploymentOptionsSchema} from '../../src/core/config/deployment-options.ts';
import {engineOptionsSchema} from '../../src/core/config/engine-config.ts';
import {silentLogger} from '../../src/core/util/logger.ts';
import {serverOptionsSchema} from '../../src/server/server-config.ts';
import {startServer} from '../../src/server/start-server.ts';

import {answerCpuQuestions} from './cpu-time.ts';

const server = await startServer(
  {
    model: null,
    server: serverOptionsSchema.parse({port: 0, disableUvicornAccessLog: true}),
    engine: engineOptionsSchema.parse({}),
    deployment: deploymentOptionsSchema.parse({engine: 'vllm', engineUrl: [process.argv[2]]}),
  },
  {reporter: {report() {}}, logger: silentLogger},
);

answerCpuQuestions();
process.send?.({url: server.url});
