/** The app of a user: the construct of the package, in a stack of its own. */
import { App, Stack } from 'aws-cdk-lib';
import { Probelet } from 'probelet/cdk';

const stack = new Stack(new App(), 'Probelet');
new Probelet(stack, 'Probelet');
