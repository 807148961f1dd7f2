// Opens YARP's own remote_controlboard on a part and calls its interfaces: a line "ok|FAILED CALL" for each, with
// values where they matter. Arguments: name of the part (/biped/left_arm), name of the client, carrier.
// The headers of YARP 3.5 need these first.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include <cstdio>
#include <string>
#include <vector>

#include <yarp/dev/all.h>
#include <yarp/os/all.h>

#include "versions.h"

#include "../stock_plugins.h"

using namespace yarp::dev;
using namespace versions;
using namespace yarp::os;

static int calls = 0, failed = 0;
#define TRY(call)                                          \
    do {                                                   \
        bool good = (call);                                \
        ++calls;                                           \
        failed += !good;                                   \
        std::printf("%s %s\n", good ? "ok" : "FAILED", #call); \
    } while (0)
// A command of the stream: the client drops one that comes while the one before is on its way.
#define SEND(call)         \
    do {                   \
        TRY(call);         \
        Time::delay(0.05); \
    } while (0)
#define VALUE(name, value) std::printf("value %s %.9g\n", name, double(value))

int main(int argc, char** argv)
{
    register_plugins();
    Network network;
    if (argc < 3 || !network.checkNetwork(5.0)) { std::printf("no name server\n"); return 2; }
    Property options;
    options.put("device", "remote_controlboard");
    options.put("remote", argv[1]);
    options.put("local", argv[2]);
    options.put("carrier", argc > 3 ? argv[3] : "tcp");
    PolyDriver driver;
    if (!driver.open(options)) { std::printf("remote_controlboard does not open\n"); return 2; }

    IPositionControl* pos; IPositionDirect* posd; IVelocityControl* vel; IEncodersTimed* enc; IMotorEncoders* menc;
    IMotor* mot; IControlLimits* lim; IControlMode* mode; IInteractionMode* inter; ITorqueControl* trq;
    IImpedanceControl* imp; IPidControl* pid; IPWMControl* pwm; ICurrentControl* cur; IAmplifierControl* amp;
    IAxisInfo* info; IRemoteVariables* var; IRemoteCalibrator* cal; IControlCalibration* calib; IPreciselyTimed* timed;
    TRY(driver.view(pos)); TRY(driver.view(posd)); TRY(driver.view(vel)); TRY(driver.view(enc)); TRY(driver.view(menc));
    TRY(driver.view(mot)); TRY(driver.view(lim)); TRY(driver.view(mode)); TRY(driver.view(inter));
    TRY(driver.view(trq)); TRY(driver.view(imp)); TRY(driver.view(pid)); TRY(driver.view(pwm)); TRY(driver.view(cur));
    TRY(driver.view(amp)); TRY(driver.view(info)); TRY(driver.view(var)); TRY(driver.view(cal));
    TRY(driver.view(calib)); TRY(driver.view(timed));
    if (failed) return 1;

    int n = 0, number = 0;
    TRY(axes(pos, n)); VALUE("axes", n);
    std::vector<double> v(n), w(n), x(n);
    std::vector<int> states(n);
    std::vector<InteractionModeEnum> inters(n);
    int two[2] = {2, 0};
    const Joints both{2, 0};
    double pair[2] = {0.0, 0.0}, a = 0.0, b = 0.0, c = 0.0, d = 0.0, before = 0.0, after = 0.0;
    bool flag = false;
    for (int i = 0; i < 200 && !enc->getEncoders(v.data()); ++i) Time::delay(0.02);

    std::string name; JointTypeEnum type;
    TRY(info->getAxisName(0, name)); std::printf("value name %s\n", name.c_str());
    TRY(info->getJointType(0, type)); VALUE("revolute", type == VOCAB_JOINTTYPE_REVOLUTE);
    TRY(enc->getEncoders(v.data())); TRY(enc->getEncoder(0, &a)); TRY(enc->getEncodersTimed(v.data(), w.data()));
    TRY(enc->getEncoderTimed(0, &a, &b)); VALUE("stamp_positive", b > 0.0);
    TRY(enc->getEncoderSpeeds(w.data())); TRY(enc->getEncoderSpeed(0, &a));
    TRY(enc->getEncoderAccelerations(w.data())); TRY(enc->getEncoderAcceleration(0, &a));
    TRY(lim->getLimits(0, &a, &b)); VALUE("low", a); VALUE("high", b); TRY(lim->setLimits(0, a, b));
    TRY(lim->getVelLimits(0, &a, &b)); TRY(lim->setVelLimits(0, 0.0, 500.0));

    TRY(set_all(mode, n, MODE(POSITION))); TRY(set_mode(mode, 0, MODE(POSITION)));
    TRY(set_modes(mode, both, MODE(POSITION)));
    TRY(get_mode(mode, 0, number)); VALUE("position_mode", number == int(MODE(POSITION)));
    TRY(get_all(mode, n)); TRY(get_modes(mode, both));
    TRY(pos->setRefSpeed(0, 40.0)); TRY(pos->getRefSpeed(0, &a)); VALUE("speed", a);
    for (auto& s : x) s = 30.0;
    TRY(pos->setRefSpeeds(x.data())); TRY(pos->getRefSpeeds(w.data()));
    pair[0] = pair[1] = 30.0;
    TRY(pos->setRefSpeeds(2, two, pair)); TRY(pos->getRefSpeeds(2, two, pair));
    TRY(pos->setRefAcceleration(0, 100.0)); TRY(pos->getRefAcceleration(0, &a));
    for (auto& s : x) s = 100.0;
    TRY(pos->setRefAccelerations(x.data())); TRY(pos->getRefAccelerations(w.data()));
    pair[0] = pair[1] = 100.0;
    TRY(pos->setRefAccelerations(2, two, pair)); TRY(pos->getRefAccelerations(2, two, pair));
    TRY(pos->positionMove(v.data())); pair[0] = v[2]; pair[1] = v[0];
    TRY(pos->positionMove(2, two, pair));
    // A relative move begins at the position that the board measures when the call arrives, between these two readings.
    Time::delay(0.3); TRY(enc->getEncoder(0, &before));
    TRY(pos->relativeMove(0, 5.0)); TRY(enc->getEncoder(0, &after));
    TRY(pos->checkMotionDone(0, OUT(flag))); VALUE("moving", !flag);
    TRY(pos->getTargetPosition(0, &a));
    VALUE("target_ahead", a - std::clamp(a - 5.0, std::min(before, after), std::max(before, after)));
    TRY(pos->getTargetPositions(w.data())); TRY(pos->getTargetPositions(2, two, pair));
    for (int i = 0; i < 400 && !flag; ++i) { Time::delay(0.02); pos->checkMotionDone(OUT(flag)); }
    TRY(pos->checkMotionDone(OUT(flag))); TRY(done(pos, both, flag));
    Time::delay(0.1); TRY(enc->getEncoder(0, &a)); VALUE("moved", a - v[0]);
    TRY(pos->positionMove(0, v[0])); TRY(pos->stop(0)); TRY(pos->stop()); TRY(pos->stop(2, two));
    for (auto& s : x) s = 0.0;
    pair[0] = pair[1] = 0.0;
    TRY(pos->relativeMove(x.data())); TRY(pos->relativeMove(2, two, pair));

    TRY(set_all(mode, n, MODE(POSITION_DIRECT))); TRY(enc->getEncoders(v.data()));
    SEND(posd->setPosition(0, v[0])); SEND(posd->setPositions(v.data()));
    pair[0] = v[2]; pair[1] = v[0] + 2.0;
    SEND(posd->setPositions(2, two, pair)); Time::delay(0.3);
    TRY(posd->getRefPosition(0, &a)); VALUE("direct", a - v[0]);
    TRY(posd->getRefPositions(w.data())); TRY(posd->getRefPositions(2, two, pair));

    TRY(set_all(mode, n, MODE(VELOCITY)));
    for (auto& s : x) s = 0.0;
    pair[0] = pair[1] = 0.0;
    SEND(vel->velocityMove(x.data())); SEND(vel->velocityMove(2, two, pair)); SEND(vel->velocityMove(0, 3.0));
    Time::delay(0.1);
    TRY(vel->getRefVelocity(0, &a)); TRY(vel->getRefVelocities(w.data())); TRY(vel->getRefVelocities(2, two, pair));
    TRY(vel->setRefAcceleration(0, 100.0)); TRY(vel->getRefAcceleration(0, &a)); TRY(vel->stop());

    TRY(imp->getCurrentImpedanceLimit(0, &a, &b, &c, &d)); TRY(imp->setImpedance(0, 0.5, 0.02));
    TRY(imp->getImpedance(0, &a, &b)); VALUE("stiffness", a); VALUE("damping", b);
    TRY(imp->setImpedanceOffset(0, 0.1)); TRY(imp->getImpedanceOffset(0, &a)); VALUE("offset", a);
    TRY(imp->setImpedanceOffset(0, 0.0));
    SEND(inter->setInteractionMode(0, VOCAB_IM_COMPLIANT)); TRY(get_interaction(inter, 0, inters[0]));
    VALUE("compliant", inters[0] == VOCAB_IM_COMPLIANT);
    for (auto& m : inters) m = VOCAB_IM_STIFF;
    TRY(set_all(inter, inters)); TRY(set_interactions(inter, both, inters));
    TRY(get_all(inter, inters)); TRY(get_interactions(inter, both));

    TRY(trq->getTorque(0, &a)); TRY(trq->getTorques(w.data())); TRY(trq->getTorqueRange(0, &a, &b));
    TRY(trq->getTorqueRanges(v.data(), w.data()));
    MotorTorqueParameters motor;
    motor.bemf = 0.1; motor.bemf_scale = 2.0; motor.ktau = 0.5; motor.ktau_scale = 3.0;
    TRY(trq->setMotorTorqueParams(0, motor)); motor.ktau = 0.0; TRY(trq->getMotorTorqueParams(0, &motor));
    VALUE("ktau", motor.ktau);
    TRY(set_mode(mode, 0, MODE(TORQUE))); SEND(trq->setRefTorque(0, 0.25)); Time::delay(0.1);
    TRY(trq->getRefTorque(0, &a)); VALUE("torque", a); TRY(trq->getRefTorques(w.data())); SEND(trq->setRefTorques(w.data()));
    pair[0] = pair[1] = 0.0;
    SEND(trq->setRefTorques(2, two, pair));
    TRY(set_mode(mode, 0, MODE(PWM))); SEND(pwm->setRefDutyCycle(0, 0.2)); Time::delay(0.1);
    TRY(pwm->getRefDutyCycle(0, &a)); VALUE("duty", a); SEND(pwm->setRefDutyCycles(x.data()));
    TRY(pwm->getRefDutyCycles(w.data())); TRY(pwm->getDutyCycle(0, &a)); TRY(pwm->getDutyCycles(w.data()));
    TRY(set_mode(mode, 0, MODE(CURRENT))); SEND(cur->setRefCurrent(0, 0.2)); Time::delay(0.1);
    TRY(cur->getRefCurrent(0, &a)); VALUE("current", a); SEND(cur->setRefCurrents(x.data()));
    SEND(cur->setRefCurrents(2, two, pair)); TRY(cur->getRefCurrents(w.data())); TRY(cur->getCurrent(0, &a));
    TRY(cur->getCurrents(w.data())); TRY(cur->getCurrentRange(0, &a, &b)); TRY(cur->getCurrentRanges(v.data(), w.data()));
    TRY(set_mode(mode, 0, MODE(POSITION)));

    Pid gains; std::vector<Pid> all(n);
    const PidControlTypeEnum kinds[] = {VOCAB_PIDTYPE_POSITION, VOCAB_PIDTYPE_VELOCITY, VOCAB_PIDTYPE_TORQUE, VOCAB_PIDTYPE_CURRENT};
    for (auto kind : kinds) {
        TRY(pid->getPid(kind, 0, &gains)); TRY(pid->setPid(kind, 0, gains)); TRY(pid->getPids(kind, all.data()));
        TRY(pid->setPids(kind, all.data())); TRY(pid->getPidError(kind, 0, &a)); TRY(pid->getPidErrors(kind, w.data()));
        TRY(pid->getPidOutput(kind, 0, &a)); TRY(pid->getPidOutputs(kind, w.data()));
        TRY(pid->getPidReference(kind, 0, &a)); TRY(pid->getPidReferences(kind, w.data()));
        TRY(pid->setPidReference(kind, 0, a)); TRY(pid->setPidReferences(kind, w.data()));
        TRY(pid->setPidErrorLimit(kind, 0, 9.0)); TRY(pid->getPidErrorLimit(kind, 0, &a));
        TRY(pid->getPidErrorLimits(kind, w.data())); TRY(pid->setPidErrorLimits(kind, w.data()));
        TRY(pid->setPidOffset(kind, 0, 0.0)); TRY(pid->resetPid(kind, 0)); TRY(pid->disablePid(kind, 0));
        TRY(pid->isPidEnabled(kind, 0, OUT(flag))); TRY(pid->enablePid(kind, 0));
    }
    VALUE("error_limit", a);

    TRY(menc->getNumberOfMotorEncoders(&number)); TRY(menc->getMotorEncoders(w.data())); TRY(menc->getMotorEncoder(0, &a));
    TRY(menc->getMotorEncodersTimed(v.data(), w.data())); TRY(menc->getMotorEncoderTimed(0, &a, &b));
    TRY(menc->getMotorEncoderSpeeds(w.data())); TRY(menc->getMotorEncoderSpeed(0, &a));
    TRY(menc->getMotorEncoderAccelerations(w.data())); TRY(menc->getMotorEncoderAcceleration(0, &a));
    TRY(menc->setMotorEncoder(0, 1.0)); TRY(menc->setMotorEncoders(x.data())); TRY(menc->resetMotorEncoder(0));
    TRY(menc->resetMotorEncoders()); TRY(menc->setMotorEncoderCountsPerRevolution(0, 4096.0));
    TRY(menc->getMotorEncoderCountsPerRevolution(0, &a)); VALUE("counts", a);
    TRY(mot->getNumberOfMotors(&number)); TRY(mot->getTemperature(0, &a)); VALUE("temperature", a);
    TRY(mot->getTemperatures(w.data())); TRY(mot->setTemperatureLimit(0, 80.0)); TRY(mot->getTemperatureLimit(0, &a));
    TRY(mot->setGearboxRatio(0, 100.0)); TRY(mot->getGearboxRatio(0, &a)); VALUE("gear", a);
    TRY(amp->getAmpStatus(0, &number)); TRY(amp->getAmpStatus(states.data())); TRY(amp->getMaxCurrent(0, &a));
    TRY(amp->setMaxCurrent(0, 12.0)); TRY(amp->getNominalCurrent(0, &a)); TRY(amp->setNominalCurrent(0, 12.0));
    TRY(amp->getPeakCurrent(0, &a)); TRY(amp->setPeakCurrent(0, 12.0)); TRY(amp->getPWM(0, &a));
    TRY(amp->getPWMLimit(0, &a)); TRY(amp->setPWMLimit(0, 90.0)); TRY(amp->getPowerSupplyVoltage(0, &a));
    TRY(amp->disableAmp(0)); TRY(amp->enableAmp(0));
    Bottle keys, value, back;
    TRY(var->getRemoteVariablesList(&keys)); VALUE("keys", keys.size());
    Bottle& list = value.addList();
    for (int i = 0; i < n; ++i) list.addFloat64(0.2);
    TRY(var->setRemoteVariable("VelocityTimeout", value)); TRY(var->getRemoteVariable("VelocityTimeout", back));
    std::printf("value timeout %s\n", back.toString().c_str());
    TRY(cal->isCalibratorDevicePresent(&flag)); TRY(cal->calibrateSingleJoint(0)); TRY(cal->calibrateWholePart());
    TRY(cal->homingSingleJoint(0)); TRY(cal->homingWholePart()); TRY(cal->parkSingleJoint(0, false));
    TRY(cal->parkWholePart()); TRY(cal->quitCalibrate()); TRY(cal->quitPark());
    TRY(calib->calibrationDone(0)); TRY(calib->calibrateAxisWithParams(0, 1, 0.0, 0.0, 0.0));
    TRY(timed->getLastInputStamp().isValid());
    TRY(enc->setEncoder(0, 10.0)); Time::delay(0.2); TRY(enc->getEncoder(0, &a)); VALUE("encoder", a);
    TRY(enc->resetEncoder(0)); TRY(enc->setEncoders(x.data())); TRY(enc->resetEncoders());

    later(driver, n, [](bool good, const char* call, double value) {
        ++calls;
        failed += !good;
        std::printf("%s %s\nvalue %s %.9g\n", good ? "ok" : "FAILED", call, call, value);
    });

    std::printf("calls %d failed %d\n", calls, failed);
    driver.close();
    return failed ? 1 : 0;
}
