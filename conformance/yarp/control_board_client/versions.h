// What differs between YARP 3.5 and YARP 4 for a client of control boards: names, and results that are pointers or
// references. YARP 4 has more interfaces, which `later` calls.
#pragma once
#include <vector>

#include <yarp/conf/version.h>
#include <yarp/dev/IPreciselyTimed.h>
#include <yarp/dev/all.h>

namespace versions {
using namespace yarp::dev;
using Joints = std::vector<int>;

#if YARP_VERSION_MAJOR >= 4
#define OUT(x) x
#define MODE(name) SelectableControlModeEnum::VOCAB_CM_##name
using Mode = SelectableControlModeEnum;
constexpr auto VOCAB_JOINTTYPE_REVOLUTE = JointTypeEnum::VOCAB_JOINTTYPE_REVOLUTE;
constexpr auto VOCAB_PIDTYPE_POSITION = PidControlTypeEnum::VOCAB_PIDTYPE_POSITION;
constexpr auto VOCAB_PIDTYPE_VELOCITY = PidControlTypeEnum::VOCAB_PIDTYPE_VELOCITY;
constexpr auto VOCAB_PIDTYPE_TORQUE = PidControlTypeEnum::VOCAB_PIDTYPE_TORQUE;
constexpr auto VOCAB_PIDTYPE_CURRENT = PidControlTypeEnum::VOCAB_PIDTYPE_CURRENT;

static bool axes(IPositionControl* pos, int& n)
{
    size_t count = 0;
    bool good = pos->getAxes(count);
    n = int(count);
    return good;
}
static bool set_mode(IControlMode* c, int j, Mode m) { return c->setControlMode(j, m); }
static bool set_modes(IControlMode* c, const Joints& j, Mode m) { return c->setControlModes(j, std::vector<Mode>(j.size(), m)); }
static bool set_all(IControlMode* c, int n, Mode m) { return c->setControlModes(std::vector<Mode>(n, m)); }
static bool get_mode(IControlMode* c, int j, int& m)
{
    ControlModeEnum mode;
    bool good = c->getControlMode(j, mode);
    m = int(mode);
    return good;
}
static bool get_modes(IControlMode* c, const Joints& j)
{
    std::vector<ControlModeEnum> m(j.size());
    return c->getControlModes(j, m) && m.size() == j.size();
}
static bool get_all(IControlMode* c, int n)
{
    std::vector<ControlModeEnum> m(n);
    return c->getControlModes(m) && int(m.size()) == n;
}
static bool done(IPositionControl* pos, const Joints& j, bool& flag) { return pos->checkMotionDone(j, flag); }
using Interactions = std::vector<InteractionModeEnum>;
static bool set_interactions(IInteractionMode* i, const Joints& j, Interactions& m) { return i->setInteractionModes(j, Interactions(j.size(), m[0])); }
static bool set_all(IInteractionMode* i, Interactions& m) { return i->setInteractionModes(m); }
static bool get_interactions(IInteractionMode* i, const Joints& j)
{
    Interactions m(j.size());
    return i->getInteractionModes(j, m) && m.size() == j.size();
}
static bool get_all(IInteractionMode* i, Interactions& m) { return i->getInteractionModes(m); }
static bool get_interaction(IInteractionMode* i, int j, InteractionModeEnum& m) { return i->getInteractionMode(j, m); }

#define LATER(call, name, value)            \
    do {                                    \
        bool good = (call);                 \
        report(good, name, double(value));  \
    } while (0)

// The calls that YARP 4 has and 3.5 has not; `report` takes each one's result and name.
template <class Report>
void later(PolyDriver& driver, int n, Report report)
{
    IVelocityDirect* velocity; IJointFault* faults; IJointBrake* brakes; IControlMode* modes; IPidControl* pid;
    if (!driver.view(velocity) || !driver.view(faults) || !driver.view(brakes) || !driver.view(modes) || !driver.view(pid)) {
        report(false, "view_of_the_interfaces_of_YARP_4", 0.0);
        return;
    }
    std::vector<SelectableControlModeEnum> available;
    std::vector<PidControlTypeEnum> loops;
    std::vector<double> all(n, 0.0), some(2, 0.0);
    std::vector<PidExtraInfo> infos;
    PidExtraInfo info;
    std::string text;
    double a = 0.0;
    int number = 0;
    bool flag = false;
    LATER(modes->getAvailableControlModes(0, available), "modes", double(available.size()));
    LATER(pid->getAvailablePids(0, loops), "loops", double(loops.size()));
    LATER(pid->setPidOffset(VOCAB_PIDTYPE_POSITION, 0, 0.5), "setPidOffset", 0.0);
    yarp::os::Time::delay(0.1);
    LATER(pid->getPidOffset(VOCAB_PIDTYPE_POSITION, 0, a), "pid_offset", a);
    LATER(pid->setPidOffset(VOCAB_PIDTYPE_POSITION, 0, 0.0), "setPidOffset_back", 0.0);
    yarp::os::Time::delay(0.1);
    LATER(pid->setPidFeedforward(VOCAB_PIDTYPE_POSITION, 0, 0.25), "setPidFeedforward", 0.0);
    yarp::os::Time::delay(0.1);
    LATER(pid->getPidFeedforward(VOCAB_PIDTYPE_POSITION, 0, a), "feedforward", a);
    LATER(pid->setPidFeedforward(VOCAB_PIDTYPE_POSITION, 0, 0.0), "setPidFeedforward_back", 0.0);
    yarp::os::Time::delay(0.1);
    LATER(pid->getPidExtraInfo(VOCAB_PIDTYPE_POSITION, 0, info), "getPidExtraInfo", 0.0);
    LATER(pid->getPidExtraInfos(VOCAB_PIDTYPE_POSITION, infos), "extra_infos", double(infos.size()));
    LATER(faults->getLastJointFault(0, number, text), "fault", number);
    LATER(brakes->isJointBraked(0, flag), "braked", flag);
    LATER(brakes->setManualBrakeActive(0, false), "setManualBrakeActive", 0.0);
    LATER(brakes->setAutoBrakeEnabled(0, true), "setAutoBrakeEnabled", 0.0);
    LATER(brakes->getAutoBrakeEnabled(0, flag), "automatic_brake", flag);
    LATER(set_all(modes, n, MODE(VELOCITY_DIRECT)), "mode_of_velocity_direct", 0.0);
    LATER(velocity->setRefVelocity(all), "setRefVelocity_of_all", 0.0);
    yarp::os::Time::delay(0.05);
    LATER(velocity->setRefVelocity(Joints{1, 0}, some), "setRefVelocity_of_some", 0.0);
    yarp::os::Time::delay(0.05);
    LATER(velocity->setRefVelocity(0, 1.5), "setRefVelocity_of_one", 0.0);
    yarp::os::Time::delay(0.1);
    LATER(velocity->getRefVelocity(0, a), "velocity_direct", a);
    LATER(velocity->getRefVelocity(all), "getRefVelocity_of_all", 0.0);
    LATER(velocity->getRefVelocity(Joints{1, 0}, some), "getRefVelocity_of_some", 0.0);
    LATER(set_all(modes, n, MODE(POSITION)), "mode_after_velocity_direct", 0.0);
}

#define setRefSpeed setTrajSpeed
#define setRefSpeeds setTrajSpeeds
#define getRefSpeed getTrajSpeed
#define getRefSpeeds getTrajSpeeds
#define setRefAcceleration setTrajAcceleration
#define setRefAccelerations setTrajAccelerations
#define getRefAcceleration getTrajAcceleration
#define getRefAccelerations getTrajAccelerations
#define getRefVelocity getTargetVelocity
#define getRefVelocities getTargetVelocities
#define getLimits getPosLimits
#define setLimits setPosLimits
#else
#define OUT(x) &x
#define MODE(name) VOCAB_CM_##name
using Mode = int;

static bool axes(IPositionControl* pos, int& n) { return pos->getAxes(&n); }
static bool set_mode(IControlMode* c, int j, Mode m) { return c->setControlMode(j, m); }
static bool set_modes(IControlMode* c, Joints j, Mode m)
{
    std::vector<int> modes(j.size(), m);
    return c->setControlModes(int(j.size()), j.data(), modes.data());
}
static bool set_all(IControlMode* c, int n, Mode m)
{
    std::vector<int> modes(n, m);
    return c->setControlModes(modes.data());
}
static bool get_mode(IControlMode* c, int j, int& m) { return c->getControlMode(j, &m); }
static bool get_modes(IControlMode* c, Joints j)
{
    std::vector<int> modes(j.size());
    return c->getControlModes(int(j.size()), j.data(), modes.data());
}
static bool get_all(IControlMode* c, int n)
{
    std::vector<int> modes(n);
    return c->getControlModes(modes.data());
}
static bool done(IPositionControl* pos, const Joints& j, bool& flag) { return pos->checkMotionDone(int(j.size()), j.data(), &flag); }
using Interactions = std::vector<InteractionModeEnum>;
static bool set_interactions(IInteractionMode* i, Joints j, Interactions& m) { return i->setInteractionModes(int(j.size()), j.data(), m.data()); }
static bool set_all(IInteractionMode* i, Interactions& m) { return i->setInteractionModes(m.data()); }
static bool get_interactions(IInteractionMode* i, Joints j)
{
    Interactions m(j.size());
    return i->getInteractionModes(int(j.size()), j.data(), m.data());
}
static bool get_all(IInteractionMode* i, Interactions& m) { return i->getInteractionModes(m.data()); }
static bool get_interaction(IInteractionMode* i, int j, InteractionModeEnum& m) { return i->getInteractionMode(j, &m); }
template <class Report>
void later(PolyDriver&, int, Report) {}
#endif
}  // namespace versions
